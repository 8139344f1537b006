<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>espalier</name>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>The engine on this machine crashed (signal %1).</source>
        <translation>本机的引擎崩溃了（信号 %1）。</translation>
    </message>
    <message>
        <source>The engine on this machine ended with code %1.</source>
        <translation>本机的引擎已退出，代码 %1。</translation>
    </message>
    <message>
        <source>The host key of %1 is another one than before. If you know why, forget the old one with: %2</source>
        <translation>%1 的主机密钥与以前不同。如果您知道原因，请用此命令删除旧密钥：%2</translation>
    </message>
    <message>
        <source>The host key of %1 is not known here. Connect once in a terminal and compare the key: %2</source>
        <translation>本机不认识 %1 的主机密钥。请先在终端中连接一次并核对密钥：%2</translation>
    </message>
    <message>
        <source>Permission denied: %1 lets nobody in without a password. Give it your key in a terminal: %2</source>
        <translation>权限被拒绝：%1 不允许无密码登录。请在终端中把您的密钥交给它：%2</translation>
    </message>
    <message>
        <source>The connection to %1 is lost. Runs there go on.</source>
        <translation>与 %1 的连接已断开。那里的运行会继续。</translation>
    </message>
    <message>
        <source>No connection to %1.</source>
        <translation>无法连接 %1。</translation>
    </message>
    <message>
        <source>There is no ssh on this PC: install the OpenSSH client. %1</source>
        <translation>本机没有 ssh：请安装 OpenSSH 客户端。%1</translation>
    </message>
    <message>
        <source>There is no WSL on this PC: wsl.exe was not found. %1</source>
        <translation>本机没有 WSL：找不到 wsl.exe。%1</translation>
    </message>
    <message>
        <source>There is no WSL distribution named %1. See which there are: %2</source>
        <translation>没有名为 %1 的 WSL 发行版。查看现有的发行版：%2</translation>
    </message>
    <message>
        <source>There is no %1 on %2. Install the engine there, or name the whole path of espalier-train.</source>
        <translation>%2 上没有 %1。请在那里安装引擎，或填写 espalier-train 的完整路径。</translation>
    </message>
    <message>
        <source>%1 on %2 cannot be executed. %3</source>
        <translation>%2 上的 %1 无法执行。%3</translation>
    </message>
    <message>
        <source>What answers on %1 is not espalier-train: &quot;%2&quot;</source>
        <translation>%1 上应答的不是 espalier-train：“%2”</translation>
    </message>
    <message>
        <source>espalier-train on %1 ended with code %2 before it said hello.</source>
        <translation>%1 上的 espalier-train 尚未应答就已退出，代码 %2。</translation>
    </message>
    <message>
        <source>%1 ready</source>
        <translation>%1 就绪</translation>
    </message>
    <message>
        <source>No device can train here: %1</source>
        <translation>这里没有可用于训练的设备：%1</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2</source>
        <translation>无法读取 %1：%2</translation>
    </message>
    <message>
        <source>%1 is too large to be sent to another machine, also when it is scaled down.</source>
        <translation>%1 太大，缩小后也无法发送到另一台机器。</translation>
    </message>
    <message>
        <source>this PC</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Type the host, as ssh takes it: ada@lab or lab:2222.</source>
        <translation>请按 ssh 的写法输入主机：ada@lab 或 lab:2222。</translation>
    </message>
    <message>
        <source>Choose the distribution.</source>
        <translation>请选择发行版。</translation>
    </message>
    <message>
        <source>Line breaks and control characters have no place here.</source>
        <translation>此处不能有换行符和控制字符。</translation>
    </message>
    <message>
        <source>No shell reads this path: write the home folder in full, as /home/ada/bin/espalier-train.</source>
        <translation>没有 shell 会解析此路径：请写出主目录的全名，例如 /home/ada/bin/espalier-train。</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is no host. Expected: host, user@host or host:port.</source>
        <translation>“%1”不是主机。应为：主机、用户@主机 或 主机:端口。</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is no port. Expected a number from 1 to 65535.</source>
        <translation>“%1”不是端口。应为 1 到 65535 之间的数。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>fp32 (strict)</source>
        <translation>fp32（严格）</translation>
    </message>
    <message>
        <source>Execution</source>
        <translation>执行</translation>
    </message>
    <message>
        <source>Safety and precision</source>
        <translation>安全与精度</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Data set</source>
        <translation>数据集</translation>
    </message>
    <message>
        <source>Built-in clothing images</source>
        <translation>内置服装图像</translation>
    </message>
    <message>
        <source>Fashion-MNIST, whole</source>
        <translation>Fashion-MNIST，完整</translation>
    </message>
    <message>
        <source>A built-in set; folder:FOLDER with a folder of images for each class; csv:FILE, cifar10:FOLDER, idx:FOLDER</source>
        <translation>内置数据集；folder:文件夹（每个类别一个图像文件夹）；csv:文件、cifar10:文件夹、idx:文件夹</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>图像尺寸</translation>
    </message>
    <message>
        <source>Pixels that image files are scaled to, shorter side; 0: the size of the first one</source>
        <translation>图像文件缩放后短边的像素数；0：取第一张图像的尺寸</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Channels of the first stage; each later stage doubles them</source>
        <translation>第一阶段的通道数；之后每个阶段加倍</translation>
    </message>
    <message>
        <source>Blocks of each stage</source>
        <translation>各阶段的块数</translation>
    </message>
    <message>
        <source>A number for each stage, with commas between</source>
        <translation>每个阶段一个数，用逗号分隔</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Automatic: the best there is</source>
        <translation>自动：选用最好的设备</translation>
    </message>
    <message>
        <source>What trains it</source>
        <translation>用什么来训练</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>How often every image is seen</source>
        <translation>每张图像被看到的次数</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Images of one step</source>
        <translation>每一步的图像数</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Class weights</source>
        <translation>类别权重</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>How much an image of each class counts in the loss</source>
        <translation>各类别的图像在损失中所占的权重</translation>
    </message>
    <message>
        <source>Balanced lets rare classes count as much as frequent ones.</source>
        <translation>“均衡”让稀少的类别与常见的类别同样重要。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>The same seed gives the same run</source>
        <translation>种子相同，运行也相同</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>SGD with momentum</source>
        <translation>带动量的 SGD</translation>
    </message>
    <message>
        <source>Adam</source>
        <translation>Adam</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>Momentum</source>
        <translation>动量</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation>梯度裁剪</translation>
    </message>
    <message>
        <source>Largest norm of the gradient; 0: none</source>
        <translation>梯度的最大范数；0：不裁剪</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>学习率调度</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>余弦</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>阶梯</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>恒定</translation>
    </message>
    <message>
        <source>Warm-up epochs</source>
        <translation>预热轮次</translation>
    </message>
    <message>
        <source>The rate rises from 0 for so long</source>
        <translation>学习率从 0 升起所用的时间</translation>
    </message>
    <message>
        <source>Regularisation</source>
        <translation>正则化</translation>
    </message>
    <message>
        <source>Label smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Random crop</source>
        <translation>随机裁剪</translation>
    </message>
    <message>
        <source>Pixels of padding before a crop back to size; 0: none</source>
        <translation>裁回原尺寸之前填充的像素数；0：不裁剪</translation>
    </message>
    <message>
        <source>Random flip</source>
        <translation>随机翻转</translation>
    </message>
    <message>
        <source>Accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>Batches whose gradients make one step</source>
        <translation>多少批的梯度合为一步</translation>
    </message>
    <message>
        <source>Patience</source>
        <translation>早停耐心</translation>
    </message>
    <message>
        <source>Stop after so many evaluations without a better one; 0: never</source>
        <translation>连续这么多次评估没有更好的结果就停止；0：从不</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
    <message>
        <source>0: all of the processor</source>
        <translation>0：处理器的全部线程</translation>
    </message>
    <message>
        <source>The settings could not be written to %1: %2</source>
        <translation>无法把设置写入 %1：%2</translation>
    </message>
    <message>
        <source>no checkpoint yet</source>
        <translation>还没有检查点</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>no warnings</source>
        <translation>没有警告</translation>
    </message>
    <message>
        <source>1 warning</source>
        <translation>1 条警告</translation>
    </message>
    <message>
        <source>%1 warnings</source>
        <translation>%1 条警告</translation>
    </message>
    <message>
        <source>They stand in the log</source>
        <translation>警告写在日志中</translation>
    </message>
    <message>
        <source>Share of the time in which the GPU had a kernel to run</source>
        <translation>GPU 有内核可执行的时间占比</translation>
    </message>
    <message>
        <source>%1 °C</source>
        <translation>%1 °C</translation>
    </message>
    <message>
        <source>%1 W</source>
        <translation>%1 W</translation>
    </message>
    <message>
        <source>Of at most %1 W</source>
        <translation>上限 %1 W</translation>
    </message>
    <message>
        <source>Clock of the multiprocessors; that of the memory is %1 MHz</source>
        <translation>多处理器的时钟；显存的时钟为 %1 MHz</translation>
    </message>
    <message>
        <source>Clock of the multiprocessors</source>
        <translation>多处理器的时钟</translation>
    </message>
    <message>
        <source>The GPU runs below its highest clock because of this</source>
        <translation>GPU 因此低于其最高时钟运行</translation>
    </message>
    <message>
        <source>1 fallback</source>
        <translation>1 次回退</translation>
    </message>
    <message>
        <source>%1 fallbacks</source>
        <translation>%1 次回退</translation>
    </message>
    <message>
        <source>Safe mode</source>
        <translation>安全模式</translation>
    </message>
    <message>
        <source>When something looks wrong: fp32, nothing fused, nothing recorded, every step checked. The slowest way.</source>
        <translation>怀疑有问题时使用：fp32、不融合、不录制、逐步检查。最慢的方式。</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Automatic is the fastest that trains well on the device. Take fp32 (strict) to rule out rounding as a cause: slower, with more memory. Weights are kept in fp32 in any case.</source>
        <translation>“自动”是在该设备上训练良好的最快精度。要排除舍入误差的影响，请选 fp32（严格）：更慢，占用更多内存。权重始终以 fp32 保存。</translation>
    </message>
    <message>
        <source>Fused kernels</source>
        <translation>融合内核</translation>
    </message>
    <message>
        <source>Off when a fused kernel is suspected of a wrong number: every operation by itself, slower, with more memory.</source>
        <translation>怀疑某个融合内核算错时关闭：每个算子单独执行，更慢，占用更多内存。</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA 图</translation>
    </message>
    <message>
        <source>Off to see which kernel fails, or where a driver has trouble with graphs: kernels are launched one by one, which costs most in small networks.</source>
        <translation>要查明哪个内核出错，或驱动对图支持不佳时关闭：内核逐个启动，小网络受影响最大。</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>On when memory is short: part of the forward is computed again in the backward instead of being kept.</source>
        <translation>内存不足时开启：部分前向结果不保留，而在反向时重新计算。</translation>
    </message>
    <message>
        <source>Deterministic</source>
        <translation>确定性</translation>
    </message>
    <message>
        <source>On when two runs must give the same bits: only algorithms that do, which may be slower.</source>
        <translation>两次运行必须逐位一致时开启：只用确定性算法，可能更慢。</translation>
    </message>
    <message>
        <source>Reference separable</source>
        <translation>参考可分离卷积</translation>
    </message>
    <message>
        <source>On to check our own kernels of separable convolutions against the library&apos;s, which are slower.</source>
        <translation>开启后用较慢的库内核核对我们自己的可分离卷积内核。</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Only on an NVIDIA GPU: the processor runs its kernels directly.</source>
        <translation>仅用于 NVIDIA GPU：处理器直接执行内核。</translation>
    </message>
    <message>
        <source>The processor gives the same bits in any case.</source>
        <translation>处理器的结果始终逐位一致。</translation>
    </message>
    <message>
        <source>not on this GPU</source>
        <translation>此 GPU 不支持</translation>
    </message>
    <message>
        <source>on an NVIDIA GPU</source>
        <translation>需要 NVIDIA GPU</translation>
    </message>
    <message>
        <source>power limit</source>
        <translation>功耗上限</translation>
    </message>
    <message>
        <source>temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>hardware slow-down</source>
        <translation>硬件降频</translation>
    </message>
    <message>
        <source>clocks set by hand</source>
        <translation>手动设定的时钟</translation>
    </message>
    <message>
        <source>held to other GPUs</source>
        <translation>与其他 GPU 同步</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分钟</translation>
    </message>
    <message>
        <source>%1 h %2</source>
        <translation>%1 小时 %2 分</translation>
    </message>
    <message>
        <source>%1 days</source>
        <translation>%1 天</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>准备中</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>%1 ready · %2 of %3 free</source>
        <translation>%1 就绪 · 空闲 %2，共 %3</translation>
    </message>
    <message>
        <source>%1 ready · %2 of memory</source>
        <translation>%1 就绪 · 内存 %2</translation>
    </message>
    <message>
        <source>last checkpoint %1 ago</source>
        <translation>最近检查点 %1前</translation>
    </message>
    <message>
        <source>last checkpoint %1</source>
        <translation>最近检查点 %1</translation>
    </message>
    <message>
        <source>safe mode</source>
        <translation>安全模式</translation>
    </message>
    <message>
        <source>fused</source>
        <translation>融合</translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation>CUDA 图</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>%1 MHz</source>
        <translation>%1 MHz</translation>
    </message>
    <message>
        <source>slowed by %1</source>
        <translation>降频原因：%1</translation>
    </message>
    <message>
        <source>%1 img/s</source>
        <translation>%1 张/秒</translation>
    </message>
    <message>
        <source>The engine has answered nothing for %1 s. Runs go on without it. Wait, or start it anew.</source>
        <translation>引擎已 %1 秒没有回应。运行会继续，不受影响。请等待，或重新启动它。</translation>
    </message>
    <message>
        <source>%1 has answered nothing for %2 s. Runs there go on. Wait, or connect anew.</source>
        <translation>%1 已 %2 秒没有回应。那里的运行会继续。请等待，或重新连接。</translation>
    </message>
    <message>
        <source> It has said: &quot;%1&quot;.</source>
        <translation> 它输出了：&quot;%1&quot;。</translation>
    </message>
    <message>
        <source>The engine was started, but has said nothing for %1 s. Wait if this PC is busy; else try again.</source>
        <translation>引擎已启动，但 %1 秒来没有任何输出。如果本机正忙，请等待；否则请重试。</translation>
    </message>
    <message>
        <source>The connection to %1 stands, but espalier-train there has said nothing for %2 s. Its login may wait for something: look in a terminal, with: %3</source>
        <translation>与 %1 的连接已建立，但那里的 espalier-train %2 秒来没有任何输出。登录过程可能在等待输入：请在终端中用此命令查看：%3</translation>
    </message>
    <message>
        <source>The damaged file is kept as %1.</source>
        <translation>损坏的文件保存为 %1。</translation>
    </message>
    <message>
        <source>The damaged file could not be kept as %1.</source>
        <translation>损坏的文件无法保存为 %1。</translation>
    </message>
    <message>
        <source>The settings could not be read and start anew.</source>
        <translation>无法读取设置，已恢复为默认设置。</translation>
    </message>
    <message>
        <source>The window&apos;s place could not be read from the settings and starts anew.</source>
        <translation>无法从设置中读取窗口位置，已恢复为默认位置。</translation>
    </message>
    <message>
        <source>%1 · %2 of %3 free</source>
        <translation>%1 · 空闲 %2，共 %3</translation>
    </message>
    <message>
        <source>%1 · %2 of memory</source>
        <translation>%1 · 内存 %2</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Rename, delete a run of the list</source>
        <translation>重命名、删除列表中的运行</translation>
    </message>
    <message>
        <source>Zoom, move and fit a plot or network that has the focus</source>
        <translation>缩放、移动、适配有焦点的图或网络</translation>
    </message>
    <message>
        <source>Move the crosshair of a plot</source>
        <translation>移动图中的十字线</translation>
    </message>
    <message>
        <source>Go to the marker before or behind it, Enter: take it back</source>
        <translation>跳到前一个或后一个标记，回车：撤回</translation>
    </message>
    <message>
        <source>Sort a table by the column of the cell, copy its rows</source>
        <translation>按当前单元格所在列排序表格、复制其行</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>A studio for training image networks, over an engine of its own.</source>
        <translation>训练图像网络的工作室，使用自有引擎。</translation>
    </message>
    <message>
        <source>Engine: none answers</source>
        <translation>引擎：没有应答</translation>
    </message>
    <message>
        <source>Engine: %1</source>
        <translation>引擎：%1</translation>
    </message>
    <message>
        <source>Qt %1</source>
        <translation>Qt %1</translation>
    </message>
    <message>
        <source>The window is free software under the GNU General Public License, version 3 or later; the engine is under the Apache License 2.0. There is no warranty.</source>
        <translation>窗口是自由软件，采用 GNU 通用公共许可证第 3 版或更高版本；引擎采用 Apache 许可证 2.0。不提供任何担保。</translation>
    </message>
    <message>
        <source>Espalier %1</source>
        <translation>Espalier %1</translation>
    </message>
    <message>
        <source>An NVIDIA card of compute capability 7.5 or newer: GTX 16, RTX 20 and all later ones.</source>
        <translation>计算能力 7.5 或更高的 NVIDIA 显卡：GTX 16、RTX 20 及之后的所有型号。</translation>
    </message>
    <message>
        <source>Its driver, release 580 or newer: on Ubuntu “Additional Drivers” or, in a terminal, %1; then restart.</source>
        <translation>其驱动程序，580 或更高版本：在 Ubuntu 中用“附加驱动”，或在终端中执行 %1；然后重新启动。</translation>
    </message>
    <message>
        <source>The package espalier-cuda of the same version as this program.</source>
        <translation>与本程序版本相同的软件包 espalier-cuda。</translation>
    </message>
    <message>
        <source>What is found says %1 in a terminal. Without a GPU everything works as well, only slower.</source>
        <translation>在终端中执行 %1 可查看找到了什么。没有 GPU 也能完成一切，只是较慢。</translation>
    </message>
    <message>
        <source>To train on a GPU</source>
        <translation>在 GPU 上训练</translation>
    </message>
    <message>
        <source>No checkpoint has been written yet.</source>
        <translation>还没有写入检查点。</translation>
    </message>
    <message>
        <source>The last checkpoint is of epoch %1 (step %2), %3 ago.</source>
        <translation>最近的检查点是第 %1 轮（第 %2 步）的，写于 %3 前。</translation>
    </message>
    <message>
        <source>The last checkpoint is of epoch %1 (step %2), written on %3.</source>
        <translation>最近的检查点是第 %1 轮（第 %2 步）的，写于 %3。</translation>
    </message>
    <message>
        <source>Walk through the line at the bottom, once Tab has reached it</source>
        <translation>用 Tab 到达底部的状态行后，在其中移动</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>另有 %1 个</translation>
    </message>
    <message>
        <source>%1 × %2</source>
        <translation>%1 × %2</translation>
    </message>
    <message>
        <source>grey</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>彩色</translation>
    </message>
    <message>
        <source>1 image of %1 × %2, %3</source>
        <translation>1 张图像，%1 × %2，%3</translation>
    </message>
    <message>
        <source>%1 images of %2 × %3, %4</source>
        <translation>%1 张图像，%2 × %3，%4</translation>
    </message>
    <message>
        <source>%1 different sizes, from %2 to %3; all are scaled to one.</source>
        <translation>有 %1 种尺寸，从 %2 到 %3；全部缩放为同一尺寸。</translation>
    </message>
    <message>
        <source>%1 cannot be read:</source>
        <translation>%1 个文件无法读取：</translation>
    </message>
    <message>
        <source>The same image in two classes, one of which is wrong:</source>
        <translation>同一图像出现在两个类别中，其中之一有误：</translation>
    </message>
    <message>
        <source>The same image twice:</source>
        <translation>同一图像出现两次：</translation>
    </message>
    <message>
        <source>Share of bad files</source>
        <translation>坏文件的比例</translation>
    </message>
    <message>
        <source>So many of the image files may be bad, and are left out; 0.1: every tenth. With more a run is refused</source>
        <translation>允许有这么多图像文件损坏，训练时略过；0.1 即十分之一。超过则拒绝运行</translation>
    </message>
    <message>
        <source>%1 of the files cannot be read, more than the %2 with which a run begins. Mend them or take them out, or allow more: Advanced, Share of bad files.</source>
        <translation>%1 的文件无法读取，超过运行所允许的 %2。请修复或移除它们，或在“高级”的“坏文件的比例”中允许更多。</translation>
    </message>
    <message>
        <source>No image of it can be used.</source>
        <translation>其中没有可用的图像。</translation>
    </message>
    <message>
        <source>Go from phase to phase and event to event of the timeline</source>
        <translation>在时间线上逐个查看阶段和事件</translation>
    </message>
    <message>
        <source>%1 has %2: to be sent to another machine it has to be scaled down, and it cannot be read here (%3). Save it as JPEG or PNG.</source>
        <translation>%1 有 %2：发送到另一台机器前须先缩小，而它在这里无法读取（%3）。请另存为 JPEG 或 PNG。</translation>
    </message>
    <message>
        <source>Begin now</source>
        <translation>立即开始</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Change settings…</source>
        <translation>更改设置…</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>%1. Install the package espalier-train, or name the engine: espalier --engine PROGRAM.</source>
        <translation>%1。请安装软件包 espalier-train，或指定引擎：espalier --engine PROGRAM。</translation>
    </message>
</context>
<context>
    <name>espalier::ClassBars</name>
    <message>
        <source>Images of each class</source>
        <translation>各类别的图像数</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>另有 %1 个</translation>
    </message>
</context>
<context>
    <name>espalier::ClassTable</name>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精确率</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>召回率</translation>
    </message>
    <message>
        <source>F1</source>
        <translation>F1</translation>
    </message>
    <message>
        <source>Of the images taken for the class, how many are of it</source>
        <translation>判为该类别的图像中，真正属于它的比例</translation>
    </message>
    <message>
        <source>Of the images of the class, how many are told right</source>
        <translation>该类别的图像中，判对的比例</translation>
    </message>
    <message>
        <source>The harmonic mean of precision and recall</source>
        <translation>精确率与召回率的调和平均</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
</context>
<context>
    <name>espalier::CloseGuard</name>
    <message>
        <source>A run is still training</source>
        <translation>有运行仍在训练</translation>
    </message>
    <message>
        <source>A run is still training.</source>
        <translation>有一个运行仍在训练。</translation>
    </message>
    <message>
        <source>%1 runs are still training.</source>
        <translation>有 %1 个运行仍在训练。</translation>
    </message>
    <message>
        <source>It can go on without the window, and what waits in the queue (%1) begins after it. Save and stop empties the queue, too.</source>
        <translation>关闭窗口后它可以继续，队列中等待的运行（%1 个）会在其后开始。“保存并停止”也会清空队列。</translation>
    </message>
    <message>
        <source>It can go on without the window and will be here again at the next start.</source>
        <translation>关闭窗口后它可以继续，下次启动时会再次显示在这里。</translation>
    </message>
    <message>
        <source>Keep training</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>Save and stop</source>
        <translation>保存并停止</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Saving and stopping. The window closes by itself.</source>
        <translation>正在保存并停止。窗口会自动关闭。</translation>
    </message>
</context>
<context>
    <name>espalier::ComparePage</name>
    <message>
        <source>Results of the runs, and the settings in which they differ</source>
        <translation>各运行的结果及不同的设置</translation>
    </message>
    <message>
        <source>The curves are on their way.</source>
        <translation>正在获取曲线。</translation>
    </message>
    <message>
        <source>Training and validation</source>
        <translation>训练与验证</translation>
    </message>
    <message>
        <source>Which curves of each run are shown</source>
        <translation>显示各运行的哪些曲线</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Comparing %1 runs</source>
        <translation>比较 %1 个运行</translation>
    </message>
    <message>
        <source>compared</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Run %1: %2</source>
        <translation>运行 %1：%2</translation>
    </message>
    <message>
        <source>%1: a click hides its curves or shows them again</source>
        <translation>%1：单击可隐藏或重新显示其曲线</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>of the run</source>
        <translation>运行占用</translation>
    </message>
    <message>
        <source>step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>The curves of %1 are on their way…</source>
        <translation>还有 %1 个运行的曲线正在获取…</translation>
    </message>
    <message>
        <source>Long runs are drawn as means of stretches; open one to see every step of it.</source>
        <translation>较长的运行按区段均值绘制；打开某个运行可查看每一步。</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Best accuracy</source>
        <translation>最佳准确率</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Time of training</source>
        <translation>训练时长</translation>
    </message>
    <message>
        <source>Not known: %1</source>
        <translation>未知：%1</translation>
    </message>
    <message>
        <source>The configurations are on their way.</source>
        <translation>正在获取配置。</translation>
    </message>
    <message>
        <source>The configurations are alike.</source>
        <translation>配置相同。</translation>
    </message>
    <message>
        <source>%1: only settings that differ stand here</source>
        <translation>%1：这里只列出不同的设置</translation>
    </message>
    <message>
        <source>The steps of %1 did not come: %2</source>
        <translation>未能取得 %1 的各步：%2</translation>
    </message>
    <message>
        <source>Long runs are drawn as means of stretches; zoom in to see every step.</source>
        <translation>较长的运行按区段均值绘制；放大可查看每一步。</translation>
    </message>
    <message>
        <source>The steps of long runs are drawn as they are, not smoothed.</source>
        <translation>较长运行的各步按原值绘制，未平滑。</translation>
    </message>
    <message>
        <source>At epoch</source>
        <translation>所在轮次</translation>
    </message>
</context>
<context>
    <name>espalier::ComparedRuns</name>
    <message>
        <source>Its config.json is damaged.</source>
        <translation>其 config.json 已损坏。</translation>
    </message>
</context>
<context>
    <name>espalier::ConfigurePage</name>
    <message>
        <source>%1 Files that cannot be read are left out: there will be fewer.</source>
        <translation>%1 无法读取的文件会被略去：实际数量更少。</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>%1 %2 img/s</source>
        <translation>%1 %2 张/秒</translation>
    </message>
    <message>
        <source>Measured here: %1.</source>
        <translation>本机实测：%1。</translation>
    </message>
    <message>
        <source>Here %1 has %2 times as many images as %3: try it.</source>
        <translation>这里 %1 的图像数是 %3 的 %2 倍：不妨一试。</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Add to queue</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>All presets</source>
        <translation>全部预设</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>复制为命令</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Your own images: a folder with a folder for each class; or CIFAR, IDX, a table of files</source>
        <translation>您自己的图像：每个类别一个子文件夹的文件夹；或 CIFAR、IDX、文件表</translation>
    </message>
    <message>
        <source>It begins when no other run of this machine&apos;s list trains or waits before it</source>
        <translation>当此机器列表中没有其他运行在训练或排在它前面时开始</translation>
    </message>
    <message>
        <source>New run: %1</source>
        <translation>新建运行：%1</translation>
    </message>
    <message>
        <source>Looking at the data…</source>
        <translation>正在查看数据…</translation>
    </message>
    <message>
        <source>Working out what it needs…</source>
        <translation>正在计算所需资源…</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>A folder of images</source>
        <translation>图像文件夹</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>Data set</source>
        <translation>数据集</translation>
    </message>
    <message>
        <source>The device has %1.</source>
        <translation>设备共有 %1。</translation>
    </message>
    <message>
        <source>%1 of it are in use by other programs, the desktop among them.</source>
        <translation>其中 %1 被其他程序（包括桌面）占用。</translation>
    </message>
    <message>
        <source>A run may take %1.</source>
        <translation>一个运行可用 %1。</translation>
    </message>
    <message>
        <source>largest batch that fits %1</source>
        <translation>可容纳的最大批大小 %1</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>约 %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 个参数</translation>
    </message>
    <message>
        <source>up to batch %1</source>
        <translation>批大小最大 %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1，可用 %2</translation>
    </message>
    <message>
        <source>%1 · fits</source>
        <translation>%1 · 放得下</translation>
    </message>
    <message>
        <source>%1 · does not fit</source>
        <translation>%1 · 放不下</translation>
    </message>
    <message>
        <source>%1 · fails at %2</source>
        <translation>%1 · 在 %2 处放不下</translation>
    </message>
    <message>
        <source>Here it saves %1 and costs about %2 more arithmetic.</source>
        <translation>这里可节省 %1，运算量约增加 %2。</translation>
    </message>
    <message>
        <source>Here it would save nothing.</source>
        <translation>这里不会节省内存。</translation>
    </message>
    <message>
        <source>Cannot run like this</source>
        <translation>这样无法运行</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>what it needs is known once the network is built</source>
        <translation>网络建好后才知道所需资源</translation>
    </message>
    <message>
        <source>Looking at the data… %1 of %2 images</source>
        <translation>正在查看数据… %1 / %2 张图像</translation>
    </message>
    <message>
        <source>%1 of %2 images</source>
        <translation>%1 / %2 张图像</translation>
    </message>
    <message>
        <source>The engine looks at what was asked for.</source>
        <translation>引擎正在检查所要求的内容。</translation>
    </message>
    <message>
        <source>There is no connection to the engine.</source>
        <translation>与引擎没有连接。</translation>
    </message>
    <message>
        <source>What it needs is not known</source>
        <translation>所需资源未知</translation>
    </message>
</context>
<context>
    <name>espalier::ConfusionMatrix</name>
    <message>
        <source>Confusion matrix</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>%1: %2 of %3 images told right (%4)</source>
        <translation>%1：%3 张图像中判对 %2 张（%4）</translation>
    </message>
    <message>
        <source>%1 taken for %2: %3 of %4 images (%5)</source>
        <translation>%1 被判为 %2：%4 张图像中有 %3 张（%5）</translation>
    </message>
    <message>
        <source>predicted →</source>
        <translation>预测 →</translation>
    </message>
    <message>
        <source>← truth</source>
        <translation>← 真实</translation>
    </message>
</context>
<context>
    <name>espalier::ConfusionPanel</name>
    <message>
        <source>Evaluate</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>What the cells say</source>
        <translation>单元格显示的内容</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>% of the class</source>
        <translation>占类别的 %</translation>
    </message>
    <message>
        <source>% of the prediction</source>
        <translation>占预测的 %</translation>
    </message>
    <message>
        <source>Each row adds up to 100: the diagonal is the recall</source>
        <translation>每行合计 100：对角线为召回率</translation>
    </message>
    <message>
        <source>Each column adds up to 100: the diagonal is the precision</source>
        <translation>每列合计 100：对角线为精确率</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>A click on a cell shows its images.</source>
        <translation>单击单元格可查看其图像。</translation>
    </message>
</context>
<context>
    <name>espalier::CsvExport</name>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
</context>
<context>
    <name>espalier::DataPanel</name>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Scan</source>
        <translation>扫描</translation>
    </message>
</context>
<context>
    <name>espalier::DeleteUndo</name>
    <message>
        <source>Deleted %1</source>
        <translation>已删除 %1</translation>
    </message>
    <message>
        <source>Its folder stays in %1 for a week.</source>
        <translation>其文件夹会在 %1 中保留一周。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>espalier::DeviceChoice</name>
    <message>
        <source>The device that was chosen for new runs is not there. They take %1.</source>
        <translation>为新运行选择的设备不在。新运行使用 %1。</translation>
    </message>
    <message>
        <source>%1, chosen for new runs, cannot train now: %2 They take %3.</source>
        <translation>为新运行选择的 %1 现在无法训练：%2 新运行使用 %3。</translation>
    </message>
</context>
<context>
    <name>espalier::DropOpener</name>
    <message>
        <source>%1 is no folder of images, table (.csv), image, run folder or checkpoint in one.</source>
        <translation>%1 不是图像文件夹、表格 (.csv)、图像、运行文件夹或其中的检查点。</translation>
    </message>
    <message>
        <source>%1 is on this PC. Copy it to %2, and type where it is there as the data of a new run.</source>
        <translation>%1 在本机上。请把它复制到 %2，并在新建运行的数据中填写它在那里的路径。</translation>
    </message>
    <message>
        <source>There is no file or folder %1.</source>
        <translation>没有文件或文件夹 %1。</translation>
    </message>
</context>
<context>
    <name>espalier::ImageGrid</name>
    <message>
        <source>%1, %2 for %3</source>
        <translation>%1，%3 的概率 %2</translation>
    </message>
    <message>
        <source>truth %1</source>
        <translation>真实 %1</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Fetching the images…</source>
        <translation>正在获取图像…</translation>
    </message>
    <message>
        <source>There is no such image.</source>
        <translation>没有这样的图像。</translation>
    </message>
</context>
<context>
    <name>espalier::LayerTable</name>
    <message>
        <source>forward %1 ms, backward %2 ms</source>
        <translation>前向 %1 ms，反向 %2 ms</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>GFLOPS</source>
        <translation>GFLOPS</translation>
    </message>
    <message>
        <source>GB/s</source>
        <translation>GB/s</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <source>FLOPs</source>
        <translation>FLOPs</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层</translation>
    </message>
</context>
<context>
    <name>espalier::LayersView</name>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
    <message>
        <source>The selected rows, or all, for a spreadsheet</source>
        <translation>复制选中的行（或全部）到电子表格</translation>
    </message>
    <message>
        <source>The layers stand here once the network is built.</source>
        <translation>网络建好后在这里列出各层。</translation>
    </message>
    <message>
        <source>Step %1, one kernel after the other: %2 ms. Half of it is in the slowest %4 of %3 layers. A click on a column&apos;s head sorts.</source>
        <translation>第 %1 步，内核逐个执行：%2 ms。%3 层中最慢的 %4 层占一半。单击列标题可排序。</translation>
    </message>
    <message>
        <source>As planned; “–” is not known yet. The tenth step or one soon after it is timed layer by layer, then one every few seconds.</source>
        <translation>按计划值；“–”表示尚不知道。第十步或其后不久的一步会逐层计时，之后每隔几秒一次。</translation>
    </message>
    <message>
        <source>As planned; “–” is not known: the run has ended before its tenth step, from which on steps are timed layer by layer.</source>
        <translation>按计划值；“–”表示不知道：运行在第十步之前就已结束，从第十步起才会逐层计时。</translation>
    </message>
</context>
<context>
    <name>espalier::LivePlot</name>
    <message>
        <source>Logarithmic axis</source>
        <translation>对数坐标轴</translation>
    </message>
    <message>
        <source>Export this plot…</source>
        <translation>导出此图…</translation>
    </message>
    <message>
        <source>Export all plots…</source>
        <translation>导出全部图…</translation>
    </message>
    <message>
        <source>%1 plot</source>
        <translation>%1图</translation>
    </message>
    <message>
        <source>Options of the plot %1</source>
        <translation>%1图的选项</translation>
    </message>
    <message>
        <source>Logarithmic axis, export</source>
        <translation>对数坐标轴、导出</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>epoch %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>total %1</source>
        <translation>合计 %1</translation>
    </message>
    <message>
        <source>No values yet</source>
        <translation>还没有数值</translation>
    </message>
    <message>
        <source>Take it back</source>
        <translation>撤回此更改</translation>
    </message>
    <message>
        <source>%1
A click offers to take it back.</source>
        <translation>%1
单击可选择撤回。</translation>
    </message>
</context>
<context>
    <name>espalier::LogView</name>
    <message>
        <source>Log of the run</source>
        <translation>运行日志</translation>
    </message>
    <message>
        <source>Nothing has been reported yet.</source>
        <translation>还没有任何报告。</translation>
    </message>
</context>
<context>
    <name>espalier::Machine</name>
    <message>
        <source>%1 was left for %2.</source>
        <translation>已从 %1 切换到 %2。</translation>
    </message>
    <message>
        <source>The connection to %1 is made anew.</source>
        <translation>正在重新连接 %1。</translation>
    </message>
</context>
<context>
    <name>espalier::MachineDialog</name>
    <message>
        <source>&amp;Host</source>
        <translation>主机(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Distribution</source>
        <translation>发行版(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Test</source>
        <translation>测试(&amp;T)</translation>
    </message>
    <message>
        <source>Add a machine</source>
        <translation>添加机器</translation>
    </message>
    <message>
        <source>Edit a machine</source>
        <translation>编辑机器</translation>
    </message>
    <message>
        <source>A server, over ssh</source>
        <translation>服务器（通过 ssh）</translation>
    </message>
    <message>
        <source>Linux on this PC (WSL2)</source>
        <translation>本机上的 Linux (WSL2)</translation>
    </message>
    <message>
        <source>ada@lab or lab:2222</source>
        <translation>ada@lab 或 lab:2222</translation>
    </message>
    <message>
        <source>as it is called in the list</source>
        <translation>在列表中的名称</translation>
    </message>
    <message>
        <source>espalier-train, where the path there finds it</source>
        <translation>espalier-train（由那里的 PATH 查找）</translation>
    </message>
    <message>
        <source>&amp;Kind</source>
        <translation>类型(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Program there</source>
        <translation>那里的程序(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Connecting to %1…</source>
        <translation>正在连接 %1…</translation>
    </message>
    <message>
        <source>There is no WSL on this PC: wsl.exe was not found.</source>
        <translation>本机没有 WSL：找不到 wsl.exe。</translation>
    </message>
    <message>
        <source>There is no distribution yet. Get one in a terminal: %1</source>
        <translation>还没有发行版。请在终端中安装：%1</translation>
    </message>
    <message>
        <source>It is being tested.</source>
        <translation>正在测试。</translation>
    </message>
</context>
<context>
    <name>espalier::MachineMenu</name>
    <message>
        <source>Add a machine…</source>
        <translation>添加机器…</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>This PC</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>%1 · connected</source>
        <translation>%1 · 已连接</translation>
    </message>
    <message>
        <source>%1 · not connected</source>
        <translation>%1 · 未连接</translation>
    </message>
    <message>
        <source>%1 is no longer in the list. Its runs go on there.</source>
        <translation>%1 已不在列表中。它的运行会在那里继续。</translation>
    </message>
    <message>
        <source>MACHINE</source>
        <translation>机器</translation>
    </message>
    <message>
        <source>DEVICE OF NEW RUNS</source>
        <translation>新运行的设备</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>正在查找设备…</translation>
    </message>
</context>
<context>
    <name>espalier::MachineTest</name>
    <message>
        <source>Connected: espalier-train %1. %2.</source>
        <translation>已连接：espalier-train %1。%2。</translation>
    </message>
    <message>
        <source>Its login prints other text first (&quot;%1&quot;), which is passed over.</source>
        <translation>登录时先输出了其他文字（“%1”），已忽略。</translation>
    </message>
    <message>
        <source>espalier-train answers on %1, but does not say what devices there are.</source>
        <translation>%1 上的 espalier-train 有应答，但没有说明有哪些设备。</translation>
    </message>
    <message>
        <source>%1 has not answered for %2 seconds.</source>
        <translation>%1 已有 %2 秒没有应答。</translation>
    </message>
</context>
<context>
    <name>espalier::MainMenu</name>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Pause or resume	Space</source>
        <translation>暂停或继续	Space</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>写入检查点</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Compare runs</source>
        <translation>比较运行</translation>
    </message>
    <message>
        <source>Export plots…</source>
        <translation>导出图…</translation>
    </message>
    <message>
        <source>Resume from a checkpoint…</source>
        <translation>从检查点继续…</translation>
    </message>
    <message>
        <source>Export the network…</source>
        <translation>导出网络…</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>保存报告…</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>复制为命令</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Follow the newest step</source>
        <translation>跟随最新一步</translation>
    </message>
    <message>
        <source>Colours of the system</source>
        <translation>跟随系统配色</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言 (Language)</translation>
    </message>
    <message>
        <source>Language of the system</source>
        <translation>跟随系统语言</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>To train on a GPU</source>
        <translation>在 GPU 上训练</translation>
    </message>
    <message>
        <source>About Espalier</source>
        <translation>关于 Espalier</translation>
    </message>
    <message>
        <source>Open a run first.</source>
        <translation>请先打开一个运行。</translation>
    </message>
</context>
<context>
    <name>espalier::MainWindow</name>
    <message>
        <source>Looking for devices…</source>
        <translation>正在查找设备…</translation>
    </message>
    <message>
        <source>The language changes at the next start of Espalier.</source>
        <translation>语言将在下次启动 Espalier 时更改。</translation>
    </message>
    <message>
        <source>The engine does not answer</source>
        <translation>引擎没有应答</translation>
    </message>
    <message>
        <source>%1 Trying again…</source>
        <translation>%1 正在重试…</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>立即重试</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>%1 is in the queue. It begins when the runs before it have ended.</source>
        <translation>%1 已加入队列。排在它前面的运行结束后开始。</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>回放</translation>
    </message>
    <message>
        <source>Replay: no engine</source>
        <translation>回放：没有引擎</translation>
    </message>
    <message>
        <source>Connecting to %1…</source>
        <translation>正在连接 %1…</translation>
    </message>
    <message>
        <source>Select two to eight runs in the list at the left, with Ctrl or Shift and a click: their curves and what their settings differ in are then shown side by side.</source>
        <translation>请按住 Ctrl 或 Shift 并单击，在左侧列表中选择两到八个运行：它们的曲线和不同的设置会并排显示。</translation>
    </message>
    <message>
        <source>The first %1 of the selected runs are compared: more cannot be told apart.</source>
        <translation>只比较所选运行中的前 %1 个：再多就难以区分。</translation>
    </message>
    <message>
        <source>● differs from the preset: click to go back</source>
        <translation>● 与预设不同：单击可恢复</translation>
    </message>
    <message>
        <source>waiting in the queue</source>
        <translation>在队列中等待</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>准备中</translation>
    </message>
    <message>
        <source>Ctrl+N new run · Ctrl+F search runs · F10 menu</source>
        <translation>Ctrl+N 新建运行 · Ctrl+F 搜索运行 · F10 菜单</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>%1 has sent something that is none of its answers, which is passed over: &quot;%2&quot;</source>
        <translation>%1 发来了不属于其回应的内容，已忽略：&quot;%2&quot;</translation>
    </message>
    <message>
        <source>The engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>To have %1 predicted, open a finished run first, and drop it again. A new run takes a folder of images.</source>
        <translation>要预测 %1，请先打开一个已完成的运行，再次拖入。新运行使用的是图像文件夹。</translation>
    </message>
    <message>
        <source>This run is still being read. Drop %1 again when all of it is there.</source>
        <translation>此运行仍在读取中。全部读完后请再次拖入 %1。</translation>
    </message>
    <message>
        <source>To have %1 predicted, wait for the first checkpoint of this run, or open a finished one.</source>
        <translation>要预测 %1，请等待此运行的第一个检查点，或打开一个已完成的运行。</translation>
    </message>
    <message>
        <source>Training on the processor: %1</source>
        <translation>在处理器上训练：%1</translation>
    </message>
    <message>
        <source>The presets stand here once the engine answers.</source>
        <translation>引擎应答后，预设会显示在这里。</translation>
    </message>
    <message>
        <source>New run like %1</source>
        <translation>与 %1 相同的新运行</translation>
    </message>
    <message>
        <source>This run has no checkpoint that could predict %1: open a finished one, and drop it again.</source>
        <translation>该运行没有可用于预测 %1 的检查点：请打开一个已完成的运行，再拖放一次。</translation>
    </message>
</context>
<context>
    <name>espalier::MetricTile</name>
    <message>
        <source>falling</source>
        <translation>下降</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>上升</translation>
    </message>
</context>
<context>
    <name>espalier::NetworkCanvas</name>
    <message>
        <source>%1 parameters</source>
        <translation>%1 个参数</translation>
    </message>
    <message>
        <source>%1 FLOPs</source>
        <translation>%1 FLOPs</translation>
    </message>
    <message>
        <source>Graph of the network</source>
        <translation>网络结构图</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Gives %1</source>
        <translation>输出 %1</translation>
    </message>
    <message>
        <source>images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>%1 operations</source>
        <translation>%1 个算子</translation>
    </message>
</context>
<context>
    <name>espalier::NetworkExport</name>
    <message>
        <source>ONNX, for other programs (*.onnx)</source>
        <translation>ONNX，供其他程序使用 (*.onnx)</translation>
    </message>
    <message>
        <source>Weights (*.safetensors)</source>
        <translation>权重 (*.safetensors)</translation>
    </message>
    <message>
        <source>Genotype of a search (*.json)</source>
        <translation>搜索得到的基因型 (*.json)</translation>
    </message>
    <message>
        <source>Export the best network</source>
        <translation>导出最佳网络</translation>
    </message>
    <message>
        <source>Writing %1…</source>
        <translation>正在写入 %1…</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Written: %1. Read back, it gives the same answers on %2 images.</source>
        <translation>已写入：%1。读回后在 %2 张图像上给出相同的结果。</translation>
    </message>
    <message>
        <source>The network was not exported. %1</source>
        <translation>网络未能导出。%1</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>The network was exported, but could not be brought here. %1</source>
        <translation>网络已导出，但无法取回本机。%1</translation>
    </message>
    <message>
        <source>Network without its weights, as JSON (*.json)</source>
        <translation>不含权重的网络，JSON 格式 (*.json)</translation>
    </message>
    <message>
        <source>Written: %1. Read back, it gives the same answers on 1 image.</source>
        <translation>已写入：%1。读回后在 1 张图像上给出相同的结果。</translation>
    </message>
</context>
<context>
    <name>espalier::NetworkView</name>
    <message>
        <source>Open all</source>
        <translation>全部展开</translation>
    </message>
    <message>
        <source>Close all</source>
        <translation>全部折叠</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适合窗口</translation>
    </message>
    <message>
        <source>Shows what is in every block</source>
        <translation>显示每个块的内容</translation>
    </message>
    <message>
        <source>Shows blocks alone</source>
        <translation>只显示块</translation>
    </message>
    <message>
        <source>Brings the network&apos;s beginning into sight, as large as it goes (Home)</source>
        <translation>显示网络的开头，并尽量放大 (Home)</translation>
    </message>
    <message>
        <source>This run was made by a version that does not tell the network&apos;s graph. Resume it, and it is drawn here.</source>
        <translation>此运行由不提供网络结构图的版本创建。继续该运行后会在这里绘出。</translation>
    </message>
    <message>
        <source>The network is drawn here once it is built.</source>
        <translation>网络建好后在这里绘出。</translation>
    </message>
    <message>
        <source>%1 operations, %2 parameters, %3 FLOPs forward for a batch of %4. A double click opens a block.</source>
        <translation>%1 个算子，%2 个参数，批大小 %4 时前向 %3 FLOPs。双击可展开块。</translation>
    </message>
    <message>
        <source>Click a box to see what it takes. The arrow keys go from box to box.</source>
        <translation>单击方框可查看其开销。方向键可在方框间移动。</translation>
    </message>
    <message>
        <source>%1 operations</source>
        <translation>%1 个算子</translation>
    </message>
    <message>
        <source>gives %1</source>
        <translation>输出 %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 个参数</translation>
    </message>
    <message>
        <source>%1 FLOPs forward</source>
        <translation>前向 %1 FLOPs</translation>
    </message>
    <message>
        <source>%1 ms of a step, forward and backward</source>
        <translation>每步 %1 ms（前向与反向）</translation>
    </message>
    <message>
        <source>images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>its layers: %1</source>
        <translation>所含各层：%1</translation>
    </message>
    <message>
        <source>its layer: %1</source>
        <translation>所在层：%1</translation>
    </message>
</context>
<context>
    <name>espalier::NotesPanel</name>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Words with commas between, to find it again</source>
        <translation>用逗号分隔的词，便于以后查找</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>What you want to remember of this run</source>
        <translation>您想记住的关于此运行的内容</translation>
    </message>
</context>
<context>
    <name>espalier::Notifications</name>
    <message>
        <source>Espalier</source>
        <translation>Espalier</translation>
    </message>
    <message>
        <source>%1 % · %2 · Espalier</source>
        <translation>%1 % · %2 · Espalier</translation>
    </message>
    <message>
        <source>%1 · Espalier</source>
        <translation>%1 · Espalier</translation>
    </message>
    <message>
        <source>%1 has finished: %2 of the validation images are told right.</source>
        <translation>%1 已完成：验证图像中有 %2 判对。</translation>
    </message>
    <message>
        <source>%1 has finished.</source>
        <translation>%1 已完成。</translation>
    </message>
    <message>
        <source>%1 has ended before its time.</source>
        <translation>%1 提前结束了。</translation>
    </message>
    <message>
        <source>%1 has failed: %2</source>
        <translation>%1 失败：%2</translation>
    </message>
</context>
<context>
    <name>espalier::PlotExports</name>
    <message>
        <source>%1 is written.</source>
        <translation>已写入 %1。</translation>
    </message>
    <message>
        <source>plots</source>
        <translation>图</translation>
    </message>
    <message>
        <source>Export the plot %1</source>
        <translation>导出%1图</translation>
    </message>
    <message>
        <source>Export all plots</source>
        <translation>导出全部图</translation>
    </message>
    <message>
        <source>Picture, twice the screen&apos;s size (*.png)</source>
        <translation>图片，屏幕尺寸的两倍 (*.png)</translation>
    </message>
    <message>
        <source>Scalable picture (*.svg)</source>
        <translation>矢量图 (*.svg)</translation>
    </message>
    <message>
        <source>Document (*.pdf)</source>
        <translation>文档 (*.pdf)</translation>
    </message>
    <message>
        <source>All values, for a spreadsheet (*.csv)</source>
        <translation>全部数值，用于电子表格 (*.csv)</translation>
    </message>
    <message>
        <source>Another table is still being written. Try again when it is done.</source>
        <translation>另一个表格仍在写入。请等它完成后再试。</translation>
    </message>
    <message>
        <source>The table was not finished: its run is no longer shown.</source>
        <translation>表格没有写完：其运行已不再显示。</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
</context>
<context>
    <name>espalier::PlotGroup</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>GFLOPS</source>
        <translation>GFLOPS</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>What the horizontal axis counts</source>
        <translation>横轴的单位</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Logarithmic loss</source>
        <translation>损失用对数坐标</translation>
    </message>
    <message>
        <source>Smoothing of the curves of training</source>
        <translation>训练曲线的平滑</translation>
    </message>
    <message>
        <source>smooth %1</source>
        <translation>平滑 %1</translation>
    </message>
    <message>
        <source>not smooth</source>
        <translation>不平滑</translation>
    </message>
    <message>
        <source>follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Show the whole run and follow the newest step</source>
        <translation>显示整个运行并跟随最新一步</translation>
    </message>
</context>
<context>
    <name>espalier::PlotOverlay</name>
    <message>
        <source>Values of 0 or below are not on a logarithmic axis</source>
        <translation>0 或更小的数值无法显示在对数坐标轴上</translation>
    </message>
</context>
<context>
    <name>espalier::PredictionPanel</name>
    <message>
        <source>Choose an image…</source>
        <translation>选择图像…</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Drop an image here, or choose one: it is scaled and cut as in training, and the network says what it sees.</source>
        <translation>把图像拖放到这里，或选择一张：它会像训练时那样缩放和裁剪，然后由网络说出看到了什么。</translation>
    </message>
    <message>
        <source>The network looks at it…</source>
        <translation>网络正在查看…</translation>
    </message>
    <message>
        <source>The network knows no classes.</source>
        <translation>网络不认识任何类别。</translation>
    </message>
    <message>
        <source>%1, with a probability of %2</source>
        <translation>%1，概率 %2</translation>
    </message>
</context>
<context>
    <name>espalier::PresetGallery</name>
    <message>
        <source>Small</source>
        <translation>小型</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>中型</translation>
    </message>
    <message>
        <source>Large</source>
        <translation>大型</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>Stability first</source>
        <translation>稳定优先</translation>
    </message>
    <message>
        <source>One-minute demo</source>
        <translation>一分钟演示</translation>
    </message>
    <message>
        <source>What do you want to train?</source>
        <translation>您想训练什么？</translation>
    </message>
    <message>
        <source>New here? Watch a network learn to tell shirts from sneakers.</source>
        <translation>第一次使用？看看网络如何学会区分衬衫和运动鞋。</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Grow</source>
        <translation>生长</translation>
    </message>
    <message>
        <source>a network of fixed shape</source>
        <translation>结构固定的网络</translation>
    </message>
    <message>
        <source>let the network find its cells</source>
        <translation>让网络自己找到单元</translation>
    </message>
    <message>
        <source>start small, add branches while it learns</source>
        <translation>从小开始，边学边长出分支</translation>
    </message>
    <message>
        <source>How</source>
        <translation>如何解决</translation>
    </message>
    <message>
        <source>What it takes to train on a GPU</source>
        <translation>在 GPU 上训练需要什么</translation>
    </message>
</context>
<context>
    <name>espalier::PresetList</name>
    <message>
        <source>%1 parameters</source>
        <translation>%1 个参数</translation>
    </message>
    <message>
        <source>%1 · about %2</source>
        <translation>%1 · 约 %2</translation>
    </message>
    <message>
        <source>fits at batch %1</source>
        <translation>批大小 %1 时放得下</translation>
    </message>
    <message>
        <source>fits %1</source>
        <translation>%1 放得下</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
</context>
<context>
    <name>espalier::ProbabilityBars</name>
    <message>
        <source>Most probable classes</source>
        <translation>最可能的类别</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>espalier::QueueList</name>
    <message>
        <source>QUEUE (%1)</source>
        <translation>队列（%1）</translation>
    </message>
    <message>
        <source>%1, place %2 in the queue</source>
        <translation>%1，队列第 %2 位</translation>
    </message>
    <message>
        <source>%1: earlier</source>
        <translation>%1：提前</translation>
    </message>
    <message>
        <source>%1: later</source>
        <translation>%1：推后</translation>
    </message>
    <message>
        <source>%1: out of the queue</source>
        <translation>%1：移出队列</translation>
    </message>
    <message>
        <source>%1 is the next one already.</source>
        <translation>%1 已经是下一个。</translation>
    </message>
    <message>
        <source>%1 is the last one already.</source>
        <translation>%1 已经是最后一个。</translation>
    </message>
</context>
<context>
    <name>espalier::ResultsView</name>
    <message>
        <source>Test images</source>
        <translation>测试图像</translation>
    </message>
    <message>
        <source>Validation images</source>
        <translation>验证图像</translation>
    </message>
    <message>
        <source>Training images</source>
        <translation>训练图像</translation>
    </message>
    <message>
        <source>Write a checkpoint now</source>
        <translation>立即写入检查点</translation>
    </message>
    <message>
        <source>Evaluate again</source>
        <translation>重新评估</translation>
    </message>
    <message>
        <source>Hardest images</source>
        <translation>最难的图像</translation>
    </message>
    <message>
        <source>Best checkpoint</source>
        <translation>最佳检查点</translation>
    </message>
    <message>
        <source>Last checkpoint</source>
        <translation>最近检查点</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Views of the results</source>
        <translation>结果视图</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Predict an image</source>
        <translation>预测图像</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
    <message>
        <source>The selected rows, or all, for a spreadsheet</source>
        <translation>复制选中的行（或全部）到电子表格</translation>
    </message>
    <message>
        <source>Those whose truth the network found least probable</source>
        <translation>网络认为真实类别概率最低的图像</translation>
    </message>
    <message>
        <source>Precision and recall of each class stand here after an evaluation.</source>
        <translation>评估后在这里显示各类别的精确率和召回率。</translation>
    </message>
    <message>
        <source>The hardest images, and those of a cell, stand here after an evaluation.</source>
        <translation>评估后在这里显示最难的图像及单元格的图像。</translation>
    </message>
    <message>
        <source>Evaluate the checkpoint to see what it confuses.</source>
        <translation>评估检查点，看看它混淆了什么。</translation>
    </message>
    <message>
        <source>There is no checkpoint yet: what the network has learned can be looked at after the first epoch.</source>
        <translation>还没有检查点：第一轮之后可以查看网络学到了什么。</translation>
    </message>
    <message>
        <source>Evaluating…</source>
        <translation>正在评估…</translation>
    </message>
    <message>
        <source>Evaluating… %1 of %2 images</source>
        <translation>正在评估… %1 / %2 张图像</translation>
    </message>
    <message>
        <source>The engine of this machine is older and cannot say what a network confuses.</source>
        <translation>这台机器的引擎较旧，无法说明网络混淆了什么。</translation>
    </message>
    <message>
        <source>Evaluate the checkpoint on %1 images to see what it confuses.</source>
        <translation>在 %1 张图像上评估检查点，看看它混淆了什么。</translation>
    </message>
    <message>
        <source>A double click shows the hardest images of a class.</source>
        <translation>双击可查看某个类别最难的图像。</translation>
    </message>
    <message>
        <source>%1 of %2 images told right · loss %3 · epoch %4</source>
        <translation>%2 张图像判对 %1 · 损失 %3 · 第 %4 轮</translation>
    </message>
    <message>
        <source>All %1 images, the hardest first</source>
        <translation>全部 %1 张图像，最难的在前</translation>
    </message>
    <message>
        <source>%1: %2 images, the hardest first</source>
        <translation>%1：%2 张图像，最难的在前</translation>
    </message>
    <message>
        <source>%1, told right: %2 images</source>
        <translation>%1，判对：%2 张图像</translation>
    </message>
    <message>
        <source>%1 taken for %2: %3 images</source>
        <translation>%1 被判为 %2：%3 张图像</translation>
    </message>
    <message>
        <source>Images (*.png *.jpg *.jpeg *.bmp *.gif *.webp *.tif *.tiff *.ppm *.pgm *.heic *.heif *.avif *.jxl)</source>
        <translation>图像 (*.png *.jpg *.jpeg *.bmp *.gif *.webp *.tif *.tiff *.ppm *.pgm *.heic *.heif *.avif *.jxl)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Show the curves</source>
        <translation>查看曲线</translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>The run waits in the queue: there is nothing to look at before it has trained.</source>
        <translation>该运行在队列中等待：训练之前没有可查看的内容。</translation>
    </message>
    <message>
        <source>Evaluate the checkpoint on 1 image to see what it confuses.</source>
        <translation>在 1 张图像上评估检查点，看看它混淆了什么。</translation>
    </message>
    <message>
        <source>The only image</source>
        <translation>唯一的图像</translation>
    </message>
    <message>
        <source>%1: 1 image</source>
        <translation>%1：1 张图像</translation>
    </message>
    <message>
        <source>%1, told right: 1 image</source>
        <translation>%1，判对：1 张图像</translation>
    </message>
    <message>
        <source>%1 taken for %2: 1 image</source>
        <translation>%1 被判为 %2：1 张图像</translation>
    </message>
    <message>
        <source>Known once the checkpoint is evaluated</source>
        <translation>评估检查点之后才知道</translation>
    </message>
    <message>
        <source>Known after the first validation</source>
        <translation>第一次验证之后才知道</translation>
    </message>
    <message>
        <source>The run ended before it had written a checkpoint: there is nothing to look at.</source>
        <translation>运行在写入检查点之前就已结束：没有可查看的内容。</translation>
    </message>
</context>
<context>
    <name>espalier::RunActions</name>
    <message>
        <source>It is on %1, where this PC cannot open it.</source>
        <translation>它在 %1 上，本机无法打开。</translation>
    </message>
    <message>
        <source>The report is on the clipboard.</source>
        <translation>报告已复制到剪贴板。</translation>
    </message>
    <message>
        <source>The run&apos;s configuration cannot be read.</source>
        <translation>无法读取此运行的配置。</translation>
    </message>
    <message>
        <source>The folder is %1. %2</source>
        <translation>文件夹是 %1。%2</translation>
    </message>
    <message>
        <source>%1 is taken back: the run writes a checkpoint and goes on from there.</source>
        <translation>正在撤回“%1”：运行会写入检查点并从那里继续。</translation>
    </message>
    <message>
        <source>Stop the run first: then it can go on from any of its checkpoints.</source>
        <translation>请先停止运行：然后可以从任一检查点继续。</translation>
    </message>
    <message>
        <source>step %1, epoch %2</source>
        <translation>第 %1 步，第 %2 轮</translation>
    </message>
    <message>
        <source>the best: %1</source>
        <translation>最佳：%1</translation>
    </message>
    <message>
        <source>The run has no checkpoint to go on from.</source>
        <translation>此运行没有可用来继续的检查点。</translation>
    </message>
    <message>
        <source>Resume from a checkpoint</source>
        <translation>从检查点继续</translation>
    </message>
    <message>
        <source>What came after it is taken back; its checkpoints are put aside.</source>
        <translation>其后的内容将被撤回，之后的检查点会移到一旁。</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>Zip (*.zip)</source>
        <translation>Zip (*.zip)</translation>
    </message>
    <message>
        <source>The report is in %1. Look at it before you send it: it has the paths of your files.</source>
        <translation>报告在 %1 中。发送前请先查看：其中有您的文件路径。</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>More epochs</source>
        <translation>增加轮次</translation>
    </message>
    <message>
        <source>Train on until epoch</source>
        <translation>继续训练到第几轮</translation>
    </message>
    <message>
        <source>The command line is on the clipboard.</source>
        <translation>命令行已复制到剪贴板。</translation>
    </message>
    <message>
        <source>The run has ended.</source>
        <translation>运行已结束。</translation>
    </message>
    <message>
        <source>It waits in the queue.</source>
        <translation>它正在队列中等待。</translation>
    </message>
    <message>
        <source>It has not taken a step yet.</source>
        <translation>它还没有走过一步。</translation>
    </message>
    <message>
        <source>A checkpoint was written when it was paused.</source>
        <translation>暂停时已写入检查点。</translation>
    </message>
    <message>
        <source>There is nothing to export yet: the run has written no checkpoint.</source>
        <translation>还没有可导出的内容：运行尚未写入检查点。</translation>
    </message>
    <message>
        <source>There is no connection to the engine.</source>
        <translation>与引擎没有连接。</translation>
    </message>
    <message>
        <source>There is nothing to resume from: the run has written no checkpoint.</source>
        <translation>没有可以继续的起点：该运行没有写出检查点。</translation>
    </message>
</context>
<context>
    <name>espalier::RunDelegate</name>
    <message>
        <source>Name of the run</source>
        <translation>运行名称</translation>
    </message>
</context>
<context>
    <name>espalier::RunEmpty</name>
    <message>
        <source>Show the log</source>
        <translation>查看日志</translation>
    </message>
    <message>
        <source>The run waits in the queue: its network is built when it begins.</source>
        <translation>运行正在队列中等待：开始时才会构建其网络。</translation>
    </message>
    <message>
        <source>The run ended before its network was built.</source>
        <translation>运行在其网络构建之前就已结束。</translation>
    </message>
</context>
<context>
    <name>espalier::RunForm</name>
    <message>
        <source>Put %1 back to the preset</source>
        <translation>把“%1”恢复为预设值</translation>
    </message>
    <message>
        <source>Differs from the preset: click to go back</source>
        <translation>与预设不同：单击可恢复</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <source>%1: a whole number from %2 to %3</source>
        <translation>%1：应为 %2 到 %3 之间的整数</translation>
    </message>
    <message>
        <source>%1: a number from %2 to %3</source>
        <translation>%1：应为 %2 到 %3 之间的数</translation>
    </message>
</context>
<context>
    <name>espalier::RunMenu</name>
    <message>
        <source>Begin now</source>
        <translation>立即开始</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>提前</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>推后</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>移出队列</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Resume in the queue</source>
        <translation>排队继续</translation>
    </message>
    <message>
        <source>Rename	F2</source>
        <translation>重命名	F2</translation>
    </message>
    <message>
        <source>Tags…</source>
        <translation>标签…</translation>
    </message>
    <message>
        <source>Copy as command</source>
        <translation>复制为命令</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>保存报告…</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Delete	Del</source>
        <translation>删除	Del</translation>
    </message>
    <message>
        <source>Tags of %1</source>
        <translation>%1 的标签</translation>
    </message>
    <message>
        <source>Words with commas between</source>
        <translation>用逗号分隔的词</translation>
    </message>
    <message>
        <source>It has finished. More epochs are asked for on its page.</source>
        <translation>它已完成。更多轮次可在它的页面上要求。</translation>
    </message>
    <message>
        <source>The engine is older and has no queue.</source>
        <translation>引擎版本较旧，没有队列。</translation>
    </message>
    <message>
        <source>It gets another name when it has begun.</source>
        <translation>它开始之后才能改名。</translation>
    </message>
    <message>
        <source>There is no connection to the engine.</source>
        <translation>与引擎没有连接。</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>Start again in the queue</source>
        <translation>排队重新开始</translation>
    </message>
    <message>
        <source>New run like this…</source>
        <translation>以此设置新建运行…</translation>
    </message>
</context>
<context>
    <name>espalier::RunModel</name>
    <message>
        <source>Went on at step %1</source>
        <translation>从第 %1 步继续</translation>
    </message>
    <message>
        <source>Back to step %1: the steps up to %2 are taken anew</source>
        <translation>回到第 %1 步：到第 %2 步为止的各步将重新进行</translation>
    </message>
    <message>
        <source>The worker started again (start %1)</source>
        <translation>工作进程已重新启动（第 %1 次启动）</translation>
    </message>
    <message>
        <source>Epoch %1: training loss %2, accuracy %3, %4 images/s</source>
        <translation>第 %1 轮：训练损失 %2，准确率 %3，%4 张/秒</translation>
    </message>
    <message>
        <source>The worker has ended</source>
        <translation>工作进程已结束</translation>
    </message>
    <message>
        <source>The worker has ended: %1</source>
        <translation>工作进程已结束：%1</translation>
    </message>
    <message>
        <source>It was waiting in the queue when its supervisor was lost.</source>
        <translation>它在队列中等待时，其监管进程丢失了。</translation>
    </message>
    <message>
        <source>The run ended without saying why.</source>
        <translation>运行已结束，但没有说明原因。</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Goes on</source>
        <translation>继续运行</translation>
    </message>
    <message>
        <source>Paused at step %1</source>
        <translation>已在第 %1 步暂停</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>准备中</translation>
    </message>
    <message>
        <source>Paused at step %1 for %2</source>
        <translation>在第 %1 步暂停了 %2</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Running · %1</source>
        <translation>运行中 · %1</translation>
    </message>
    <message>
        <source>Paused · epoch %1</source>
        <translation>已暂停 · 第 %1 轮</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>%1 · step %2</source>
        <translation>%1 · 第 %2 步</translation>
    </message>
    <message>
        <source>Checkpoint at step %1 · %2</source>
        <translation>第 %1 步的检查点 · %2</translation>
    </message>
    <message>
        <source>Best so far: checkpoint at step %1</source>
        <translation>目前最佳：第 %1 步的检查点</translation>
    </message>
    <message>
        <source>%1: %2 → %3: %4</source>
        <translation>%1：%2 → %3：%4</translation>
    </message>
    <message>
        <source>Fallback: %1</source>
        <translation>回退：%1</translation>
    </message>
    <message>
        <source>Epoch %1: test loss %2, accuracy %3</source>
        <translation>第 %1 轮：测试损失 %2，准确率 %3</translation>
    </message>
    <message>
        <source>Epoch %1: validation loss %2, accuracy %3 (the best so far)</source>
        <translation>第 %1 轮：验证损失 %2，准确率 %3（目前最佳）</translation>
    </message>
    <message>
        <source>Epoch %1: validation loss %2, accuracy %3</source>
        <translation>第 %1 轮：验证损失 %2，准确率 %3</translation>
    </message>
    <message>
        <source>%1 parameters, batch %2, epochs: %3, steps of each: %4, on %5 (%6)</source>
        <translation>%1 个参数，批大小 %2，%3 轮，每轮 %4 步，%5（%6）</translation>
    </message>
</context>
<context>
    <name>espalier::RunPage</name>
    <message>
        <source>Weights: %1</source>
        <translation>权重：%1</translation>
    </message>
    <message>
        <source>Optimizer: %1</source>
        <translation>优化器：%1</translation>
    </message>
    <message>
        <source>Activations: %1</source>
        <translation>激活：%1</translation>
    </message>
    <message>
        <source>Workspace: %1</source>
        <translation>工作区：%1</translation>
    </message>
    <message>
        <source>Data set: %1</source>
        <translation>数据集：%1</translation>
    </message>
    <message>
        <source>This process, with libraries: %1</source>
        <translation>此进程（含库）：%1</translation>
    </message>
    <message>
        <source>All programs on the device: %1</source>
        <translation>设备上的所有程序：%1</translation>
    </message>
    <message>
        <source>The device has: %1</source>
        <translation>设备共有：%1</translation>
    </message>
    <message>
        <source>Memory of the machine: %1</source>
        <translation>机器内存：%1</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>验证准确率</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>GFLOPS</source>
        <translation>GFLOPS</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Views of the run</source>
        <translation>运行视图</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>查看日志</translation>
    </message>
    <message>
        <source>The run waits in the queue.</source>
        <translation>此运行在队列中等待。</translation>
    </message>
    <message>
        <source>The past of the run is being read.</source>
        <translation>正在读取此运行的历史。</translation>
    </message>
    <message>
        <source>The run ended before its first step.</source>
        <translation>此运行在第一步之前已结束。</translation>
    </message>
    <message>
        <source>The run ended before this was measured.</source>
        <translation>此运行在测得该项之前已结束。</translation>
    </message>
    <message>
        <source>The curve starts with the first step.</source>
        <translation>曲线从第一步开始。</translation>
    </message>
    <message>
        <source>Memory is measured once the network is built.</source>
        <translation>网络建好后开始测量内存。</translation>
    </message>
    <message>
        <source>Arithmetic is measured while it trains.</source>
        <translation>训练时测量运算量。</translation>
    </message>
    <message>
        <source>reading the past of the run</source>
        <translation>正在读取运行的历史</translation>
    </message>
    <message>
        <source>train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>utilisation</source>
        <translation>利用率</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>best %1 at epoch %2</source>
        <translation>最佳 %1（第 %2 轮）</translation>
    </message>
    <message>
        <source>Saving</source>
        <translation>正在保存</translation>
    </message>
    <message>
        <source>Evaluating</source>
        <translation>正在评估</translation>
    </message>
    <message>
        <source>reading the data, building the network</source>
        <translation>正在读取数据、构建网络</translation>
    </message>
    <message>
        <source>%1 epochs in %2</source>
        <translation>%1 轮，用时 %2</translation>
    </message>
    <message>
        <source>epoch %1 of %2</source>
        <translation>第 %1 轮，共 %2 轮</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>剩余 %1</translation>
    </message>
    <message>
        <source>best validation %1</source>
        <translation>最佳验证 %1</translation>
    </message>
    <message>
        <source>of training</source>
        <translation>训练集</translation>
    </message>
    <message>
        <source>Best accuracy</source>
        <translation>最佳准确率</translation>
    </message>
    <message>
        <source>at epoch %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>best %1</source>
        <translation>最佳 %1</translation>
    </message>
    <message>
        <source>after the first epoch</source>
        <translation>第一轮之后</translation>
    </message>
    <message>
        <source>training %1</source>
        <translation>训练 %1</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>peak %1 of %2</source>
        <translation>峰值 %1，共 %2</translation>
    </message>
    <message>
        <source>in all %1 of %2</source>
        <translation>总计 %1，共 %2</translation>
    </message>
    <message>
        <source>peak %1 with the program</source>
        <translation>含程序峰值 %1</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>峰值 %1</translation>
    </message>
    <message>
        <source>as planned</source>
        <translation>按计划值</translation>
    </message>
    <message>
        <source>MFU %1</source>
        <translation>MFU %1</translation>
    </message>
    <message>
        <source>%1FLOP a step</source>
        <translation>每步 %1FLOP</translation>
    </message>
    <message>
        <source>Planned arithmetic by the time of a step. MFU: its share of the %1 GFLOPS that the device reaches at best in %2.</source>
        <translation>计划运算量除以一步的时间。MFU：占该设备在 %2 下最高可达的 %1 GFLOPS 的比例。</translation>
    </message>
    <message>
        <source>Planned arithmetic by the time of a step</source>
        <translation>计划运算量除以一步的时间</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>%1 img/s</source>
        <translation>%1 张/秒</translation>
    </message>
    <message>
        <source>step %1 ms</source>
        <translation>每步 %1 ms</translation>
    </message>
    <message>
        <source>%1 usable</source>
        <translation>可用 %1</translation>
    </message>
    <message>
        <source>Resume without the fallbacks</source>
        <translation>撤销回退并继续</translation>
    </message>
    <message>
        <source>Predict an image…</source>
        <translation>预测图像…</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Paused at step %1</source>
        <translation>已在第 %1 步暂停</translation>
    </message>
    <message>
        <source>Its memory is free again. %1</source>
        <translation>其内存已释放。%1</translation>
    </message>
    <message>
        <source>GPU memory released. %1</source>
        <translation>显存已释放。%1</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The run ended without saying why.</source>
        <translation>运行已结束，但没有说明原因。</translation>
    </message>
    <message>
        <source>Resume in safe mode</source>
        <translation>以安全模式继续</translation>
    </message>
    <message>
        <source>Resume from…</source>
        <translation>从检查点继续…</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Stopped at step %1</source>
        <translation>已在第 %1 步停止</translation>
    </message>
    <message>
        <source>Finished: %1 of the validation images are told right.</source>
        <translation>已完成：验证图像中有 %1 判对。</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>The weights, the curves as CSV and the log are in the run&apos;s folder.</source>
        <translation>权重、CSV 曲线和日志都在运行的文件夹中。</translation>
    </message>
    <message>
        <source>More epochs…</source>
        <translation>增加轮次…</translation>
    </message>
    <message>
        <source>It begins by itself, whether this window is open or not.</source>
        <translation>无论此窗口是否打开，它都会自动开始。</translation>
    </message>
    <message>
        <source>Begin now</source>
        <translation>立即开始</translation>
    </message>
    <message>
        <source>Take out of the queue</source>
        <translation>移出队列</translation>
    </message>
    <message>
        <source>The engine changed %1: %2 → %3</source>
        <translation>引擎更改了“%1”：%2 → %3</translation>
    </message>
    <message>
        <source>as asked</source>
        <translation>按要求</translation>
    </message>
    <message>
        <source>Take it back</source>
        <translation>撤回此更改</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>1 epoch in %1</source>
        <translation>1 轮，用时 %1</translation>
    </message>
    <message>
        <source>What it learned is kept. %1</source>
        <translation>学到的内容已保留。%1</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>Start again in safe mode</source>
        <translation>以安全模式重新开始</translation>
    </message>
</context>
<context>
    <name>espalier::RunRail</name>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Search runs…</source>
        <translation>搜索运行…</translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>By name, tag, preset, state or notes</source>
        <translation>按名称、标签、预设、状态或备注</translation>
    </message>
    <message>
        <source>RUNS</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Runs that you start stay here, with their curves and checkpoints.</source>
        <translation>您启动的运行会留在这里，连同其曲线和检查点。</translation>
    </message>
    <message>
        <source>No run has this in its name, tags, preset, state or notes.</source>
        <translation>没有运行在名称、标签、预设、状态或备注中含有此内容。</translation>
    </message>
</context>
<context>
    <name>espalier::RunStore</name>
    <message>
        <source>Running · %1/%2</source>
        <translation>运行中 · %1/%2</translation>
    </message>
    <message>
        <source>Paused · epoch %1</source>
        <translation>已暂停 · 第 %1 轮</translation>
    </message>
    <message>
        <source>%1 · step %2</source>
        <translation>%1 · 第 %2 步</translation>
    </message>
    <message>
        <source>%1 has not ended. Stop it first: then it can be deleted.</source>
        <translation>%1 尚未结束。请先停止，然后才能删除。</translation>
    </message>
    <message>
        <source>The engine of %1 is older: it could not bring %2 back. Nothing is deleted; its folder is %3.</source>
        <translation>%1 的引擎较旧，删除后将无法恢复 %2。没有删除任何内容；其文件夹是 %3。</translation>
    </message>
</context>
<context>
    <name>espalier::ServeLink</name>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
</context>
<context>
    <name>espalier::SetupView</name>
    <message>
        <source>Changed by the engine: %1</source>
        <translation>由引擎更改：%1</translation>
    </message>
    <message>
        <source>Setup of the run</source>
        <translation>运行的设置</translation>
    </message>
    <message>
        <source>What will be trained stands here once the network is built.</source>
        <translation>网络建好后在这里显示将训练什么。</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <source>Arithmetic</source>
        <translation>运算量</translation>
    </message>
    <message>
        <source>%1FLOP a step, forward and backward</source>
        <translation>每步 %1FLOP（前向与反向）</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>%1 of %2 steps, batch %3</source>
        <translation>%1 轮，每轮 %2 步，批大小 %3</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Peak of the device</source>
        <translation>设备峰值</translation>
    </message>
    <message>
        <source>%1 GFLOPS in %2</source>
        <translation>%1 GFLOPS（%2）</translation>
    </message>
    <message>
        <source>Planned memory</source>
        <translation>计划内存</translation>
    </message>
    <message>
        <source>weights %1</source>
        <translation>权重 %1</translation>
    </message>
    <message>
        <source>optimizer %1</source>
        <translation>优化器 %1</translation>
    </message>
    <message>
        <source>activations %1</source>
        <translation>激活 %1</translation>
    </message>
    <message>
        <source>workspace %1</source>
        <translation>工作区 %1</translation>
    </message>
    <message>
        <source>data set %1</source>
        <translation>数据集 %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Memory it may take</source>
        <translation>可用内存</translation>
    </message>
    <message>
        <source>%1 of the device&apos;s %2; the rest is in use or kept back</source>
        <translation>设备 %2 中的 %1；其余被占用或预留</translation>
    </message>
    <message>
        <source>Operations after passes</source>
        <translation>各优化遍后的算子数</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>说明</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>%1 of 1 step, batch %2</source>
        <translation>%1 轮，每轮 1 步，批大小 %2</translation>
    </message>
    <message>
        <source>Settings of the run</source>
        <translation>运行的配置</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>a list</comment>
        <translation>%1，%2</translation>
    </message>
</context>
<context>
    <name>espalier::StatusStrip</name>
    <message>
        <source>Status</source>
        <translation>状态栏</translation>
    </message>
</context>
<context>
    <name>espalier::Timeline</name>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>%1: steps %2 to %3</source>
        <translation>%1：第 %2 步到第 %3 步</translation>
    </message>
</context>
<context>
    <name>espalier::ToggleList</name>
    <message>
        <source>Take it back</source>
        <translation>撤回此更改</translation>
    </message>
    <message>
        <source>Take %1 back</source>
        <translation>撤回“%1”</translation>
    </message>
</context>
<context>
    <name>espalier::ToolBar</name>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Safe mode</source>
        <translation>安全模式</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>机器</translation>
    </message>
    <message>
        <source>Pause or resume (Space)</source>
        <translation>暂停或继续 (Space)</translation>
    </message>
    <message>
        <source>Write a checkpoint and end the run</source>
        <translation>写入检查点并结束运行</translation>
    </message>
    <message>
        <source>Write a checkpoint now</source>
        <translation>立即写入检查点</translation>
    </message>
    <message>
        <source>New and resumed runs take the shortest pipeline: slower, every step checked</source>
        <translation>新建和继续的运行采用最短的流水线：较慢，逐步检查</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
</context>
<context>
    <name>espalier::Watchdog</name>
    <message>
        <source>the window waited for %1 ms (%2)</source>
        <translation>窗口等待了 %1 ms（%2）</translation>
    </message>
    <message>
        <source>the window stood still for %1 ms (%2)</source>
        <translation>窗口停滞了 %1 ms（%2）</translation>
    </message>
</context>
<context>
    <name>espalier::engine</name>
    <message>
        <source>One-minute demo</source>
        <translation>一分钟演示</translation>
    </message>
    <message>
        <source>Train, small</source>
        <translation>训练，小型</translation>
    </message>
    <message>
        <source>Train, medium</source>
        <translation>训练，中型</translation>
    </message>
    <message>
        <source>Train, large</source>
        <translation>训练，大型</translation>
    </message>
    <message>
        <source>Search, small</source>
        <translation>搜索，小型</translation>
    </message>
    <message>
        <source>Search, medium</source>
        <translation>搜索，中型</translation>
    </message>
    <message>
        <source>Search, large</source>
        <translation>搜索，大型</translation>
    </message>
    <message>
        <source>Search, recommended</source>
        <translation>搜索，推荐</translation>
    </message>
    <message>
        <source>Search, stability first</source>
        <translation>搜索，稳定优先</translation>
    </message>
    <message>
        <source>Grow, small</source>
        <translation>生长，小型</translation>
    </message>
    <message>
        <source>Grow, medium</source>
        <translation>生长，中型</translation>
    </message>
    <message>
        <source>Grow, large</source>
        <translation>生长，大型</translation>
    </message>
    <message>
        <source>A small convolution network learns the built-in clothing images to about 89 % in less than a minute, on any processor.</source>
        <translation>小型卷积网络，在任何处理器上都能在一分钟内把内置服装图像学到约 89 %。</translation>
    </message>
    <message>
        <source>A residual network of 3 blocks for photos of 96 pixels: a first result on your own images.</source>
        <translation>3 个块的残差网络，用于 96 像素的照片：在您自己的图像上得到第一个结果。</translation>
    </message>
    <message>
        <source>A ResNet-18 of half the width for photos of 160 pixels: good accuracy in hours on a GPU.</source>
        <translation>宽度减半的 ResNet-18，用于 160 像素的照片：在 GPU 上几小时即可达到良好的准确率。</translation>
    </message>
    <message>
        <source>ResNet-18 for photos of 224 pixels: the best accuracy of the three, for a GPU and a night.</source>
        <translation>ResNet-18，用于 224 像素的照片：三者中准确率最高，需要 GPU 和一个晚上。</translation>
    </message>
    <message>
        <source>A quick check of the architecture search: 8 channels, 4 cells; too short for a meaningful genotype.</source>
        <translation>快速检验架构搜索：8 个通道、4 个单元；时间太短，得不到有意义的基因型。</translation>
    </message>
    <message>
        <source>Architecture search with 20 channels and 12 cells.</source>
        <translation>架构搜索，20 个通道、12 个单元。</translation>
    </message>
    <message>
        <source>Architecture search with 28 channels and 16 cells.</source>
        <translation>架构搜索，28 个通道、16 个单元。</translation>
    </message>
    <message>
        <source>Architecture search that is worth its time: 16 channels, 8 cells.</source>
        <translation>物有所值的架构搜索：16 个通道、8 个单元。</translation>
    </message>
    <message>
        <source>Architecture search with recomputation and safe mode on: 12 channels, 6 cells.</source>
        <translation>开启重计算和安全模式的架构搜索：12 个通道、6 个单元。</translation>
    </message>
    <message>
        <source>A network that starts with %1 parameters and grows to at most 500,000.</source>
        <translation>从 %1 个参数开始、最多长到 500,000 个参数的网络。</translation>
    </message>
    <message>
        <source>A network that starts with %1 parameters and grows to at most %2 million.</source>
        <translation>从 %1 个参数开始、最多长到 %2 百万个参数的网络。</translation>
    </message>
    <message>
        <source>It comes with the growing networks.</source>
        <translation>将随生长网络一同提供。</translation>
    </message>
    <message>
        <source>It comes with the architecture search.</source>
        <translation>将随架构搜索一同提供。</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Waits in the queue until %1 has ended or is paused.</source>
        <translation>在队列中等待，直到 %1 结束或暂停。</translation>
    </message>
    <message>
        <source>Waits in the queue: %1 run begins before it.</source>
        <translation>在队列中等待：前面还有 %1 个运行。</translation>
    </message>
    <message>
        <source>Waits in the queue: %1 runs begin before it.</source>
        <translation>在队列中等待：前面还有 %1 个运行。</translation>
    </message>
    <message>
        <source>Stopped by the user.</source>
        <translation>已由用户停止。</translation>
    </message>
    <message>
        <source>Stopped by the user; the worker did not say how it went.</source>
        <translation>已由用户停止；工作进程没有说明情况。</translation>
    </message>
    <message>
        <source>The run was interrupted; the state was saved.</source>
        <translation>运行被中断；状态已保存。</translation>
    </message>
    <message>
        <source>The precision is %1: in a self-test its losses were within %2 % of those in fp32.</source>
        <translation>精度为 %1：自检中其损失与 fp32 相差不超过 %2 %。</translation>
    </message>
    <message>
        <source>Each update takes the mean gradient of %1 batches of %2 images.</source>
        <translation>每次更新取 %1 批（每批 %2 张图像）的平均梯度。</translation>
    </message>
    <message>
        <source>%1 images in batches of %2 leave %3 over. The last batch of each epoch has %4.</source>
        <translation>%1 张图像按每批 %2 张划分，余 %3 张。每轮最后一批有 %4 张。</translation>
    </message>
    <message>
        <source>%1 images in batches of %2 leave %3 over. A batch of one is no use, so one image, another one each epoch, sits out.</source>
        <translation>%1 张图像按每批 %2 张划分，余 %3 张。一张图像的批没有用处，因此每轮轮换空出一张图像。</translation>
    </message>
    <message>
        <source>%1 images in batches of %2 leave %3 over. They are too few for a batch of their own, so the last two batches of each epoch share the images: %4 and %5.</source>
        <translation>%1 张图像按每批 %2 张划分，余 %3 张。它们不足以单独成批，因此每轮最后两批分摊这些图像：%4 张和 %5 张。</translation>
    </message>
    <message>
        <source>The batch of %1 is larger than the training set, so all %2 images make one batch.</source>
        <translation>批大小 %1 大于训练集，因此全部 %2 张图像合为一批。</translation>
    </message>
    <message>
        <source>The warm-up takes the whole run: the learning rate never reaches its value.</source>
        <translation>预热占满了整个运行：学习率始终达不到设定值。</translation>
    </message>
    <message>
        <source>There is no validation part: no checkpoint will be called the best.</source>
        <translation>没有验证集：不会有检查点被称为最佳。</translation>
    </message>
    <message>
        <source>The data set has a single class: there is nothing to tell apart, the loss is zero from the first step on, and an accuracy of 100 % means nothing. Is a folder of classes missing?</source>
        <translation>数据集只有一个类别：没有什么可区分的，损失从第一步起就是零，100 % 的准确率毫无意义。是否缺少类别文件夹？</translation>
    </message>
    <message>
        <source>Training refuses this set until its bad files are mended.</source>
        <translation>在坏文件修复之前，训练拒绝使用此数据集。</translation>
    </message>
    <message>
        <source>Training leaves the bad files out: %1 of %2.</source>
        <translation>训练会略过坏文件：%2 个中的 %1 个。</translation>
    </message>
    <message>
        <source>Training leaves the bad files out only if max_bad_share allows so many: %1 of %2.</source>
        <translation>只有 max_bad_share 允许这么多坏文件时，训练才会略过它们：%2 个中的 %1 个。</translation>
    </message>
    <message>
        <source>The class &apos;%1&apos; has no training image: it can never be learned.</source>
        <translation>类别“%1”没有训练图像：永远学不会。</translation>
    </message>
    <message>
        <source>Only one class has images: there is nothing to tell apart.</source>
        <translation>只有一个类别有图像：没有什么可区分的。</translation>
    </message>
    <message>
        <source>There is no image that could be used.</source>
        <translation>没有可用的图像。</translation>
    </message>
    <message>
        <source>The classes are far from balanced: the largest has %1 images, the smallest %2.</source>
        <translation>类别很不均衡：最大的有 %1 张图像，最小的有 %2 张。</translation>
    </message>
    <message>
        <source>Of a single colour throughout: %1 image.</source>
        <translation>通体单色：%1 张图像。</translation>
    </message>
    <message>
        <source>Of a single colour throughout: %1 images.</source>
        <translation>通体单色：%1 张图像。</translation>
    </message>
    <message>
        <source>The same in two classes: %1 image. One of the two labels is wrong.</source>
        <translation>出现在两个类别中：%1 张图像。两个标签之一有误。</translation>
    </message>
    <message>
        <source>The same in two classes: %1 images. One of the two labels is wrong.</source>
        <translation>出现在两个类别中：%1 张图像。两个标签之一有误。</translation>
    </message>
    <message>
        <source>Repeated within the training part: %1 image.</source>
        <translation>训练集内重复：%1 张图像。</translation>
    </message>
    <message>
        <source>Repeated within the training part: %1 images.</source>
        <translation>训练集内重复：%1 张图像。</translation>
    </message>
    <message>
        <source>In the training part and in the validation part: %1 image. Accuracy will look a little better than it is.</source>
        <translation>同时出现在训练集和验证集中：%1 张图像。准确率会显得比实际略高。</translation>
    </message>
    <message>
        <source>In the training part and in the validation part: %1 images. Accuracy will look a little better than it is.</source>
        <translation>同时出现在训练集和验证集中：%1 张图像。准确率会显得比实际略高。</translation>
    </message>
    <message>
        <source>In the training part and in the test part: %1 image. Accuracy will look a little better than it is.</source>
        <translation>同时出现在训练集和测试集中：%1 张图像。准确率会显得比实际略高。</translation>
    </message>
    <message>
        <source>In the training part and in the test part: %1 images. Accuracy will look a little better than it is.</source>
        <translation>同时出现在训练集和测试集中：%1 张图像。准确率会显得比实际略高。</translation>
    </message>
    <message>
        <source>%1 hidden files or folders and leftovers of the system (such as ._a.jpg, Thumbs.db) were passed over.</source>
        <translation>略过了 %1 个隐藏文件或文件夹及系统遗留文件（如 ._a.jpg、Thumbs.db）。</translation>
    </message>
    <message>
        <source>%1 images lie beside the folders of the classes and were passed over.</source>
        <translation>%1 张图像位于类别文件夹之外，已略过。</translation>
    </message>
    <message>
        <source>%1 folders were reached a second time, through a link, and passed over.</source>
        <translation>%1 个文件夹经由链接再次到达，已略过。</translation>
    </message>
    <message>
        <source>%1 files are no images by their names (%2) and were passed over.</source>
        <translation>%1 个文件从名称看不是图像（%2），已略过。</translation>
    </message>
    <message>
        <source>There is no &apos;%1&apos;: the training part is smaller than the whole set&apos;s.</source>
        <translation>没有“%1”：训练集小于完整数据集。</translation>
    </message>
    <message>
        <source>The folder &apos;%1&apos; lies beside &apos;train&apos; and was passed over.</source>
        <translation>文件夹“%1”与“train”并列，已略过。</translation>
    </message>
    <message>
        <source>Stopped by the user, but the worker failed: %1</source>
        <translation>已由用户停止，但工作进程失败：%1</translation>
    </message>
    <message>
        <source>No checkpoint could be written, and training goes on without. %1</source>
        <translation>无法写入检查点，训练在没有检查点的情况下继续。%1</translation>
    </message>
    <message>
        <source>Checkpoints can be written again.</source>
        <translation>检查点又可以写入了。</translation>
    </message>
    <message>
        <source>The first line of the table names no columns &apos;file&apos; and &apos;label&apos;: column %1 was taken for the file, column %2 for the class.</source>
        <translation>表格首行没有名为“file”和“label”的列：已将第 %1 列当作文件，第 %2 列当作类别。</translation>
    </message>
    <message>
        <source>%1 Resume from checkpoint %2, which is from before (Resume from…). If it comes again, begin a new run like this one with a smaller learning rate, such as %5.</source>
        <translation>%1 请从此前的检查点 %2 继续（从检查点继续…）。如再次出现，请以此设置新建运行并采用更小的学习率，例如 %5。</translation>
    </message>
    <message>
        <source>%1 There is no checkpoint from before to go back to: begin a new run like this one with a smaller learning rate, such as %2.</source>
        <translation>%1 没有此前的检查点可退回：请以此设置新建运行并采用更小的学习率，例如 %2。</translation>
    </message>
    <message>
        <source>This run has trained all of its epochs. To go on, give it more (More epochs…).</source>
        <translation>此运行已完成全部轮次。要继续，请增加轮次（增加轮次…）。</translation>
    </message>
    <message>
        <source>%1 Resume from another checkpoint, if there is one (Resume from…).</source>
        <translation>%1 如有其他检查点，请从其继续（从检查点继续…）。</translation>
    </message>
    <message>
        <source>The run&apos;s folder, %1, was removed or renamed while the run trained.</source>
        <translation>运行的文件夹 %1 在训练期间被删除或改名。</translation>
    </message>
    <message>
        <source>No NVIDIA driver is installed.</source>
        <translation>没有安装 NVIDIA 驱动程序。</translation>
    </message>
    <message>
        <source>There is no NVIDIA GPU in this machine, or its driver is not loaded.</source>
        <translation>本机没有 NVIDIA GPU，或其驱动程序未加载。</translation>
    </message>
    <message>
        <source>The NVIDIA driver was updated and not loaded anew: restart the machine (CUDA error 803).</source>
        <translation>NVIDIA 驱动程序已更新但未重新加载：请重新启动本机（CUDA 错误 803）。</translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old: it serves CUDA %1, and CUDA %2 (driver 580 or newer) is needed.</source>
        <translation>NVIDIA 驱动程序太旧：它支持 CUDA %1，而需要 CUDA %2（580 或更高版本的驱动程序）。</translation>
    </message>
    <message>
        <source>The engine for NVIDIA GPUs is not installed (%1).</source>
        <translation>没有安装用于 NVIDIA GPU 的引擎（%1）。</translation>
    </message>
    <message>
        <source>Each update takes the mean gradient of %1 batches of 1 image.</source>
        <translation>每次更新取 %1 批（每批 1 张图像）的平均梯度。</translation>
    </message>
    <message>
        <source>1 hidden file or leftover of the system (such as ._a.jpg, Thumbs.db) was passed over.</source>
        <translation>略过了 1 个隐藏文件或系统遗留文件（如 ._a.jpg、Thumbs.db）。</translation>
    </message>
    <message>
        <source>1 image lies beside the folders of the classes and was passed over.</source>
        <translation>1 张图像位于类别文件夹之外，已略过。</translation>
    </message>
    <message>
        <source>1 folder was reached a second time, through a link, and passed over.</source>
        <translation>1 个文件夹通过链接被再次到达，已略过。</translation>
    </message>
    <message>
        <source>1 file is no image by its name (%1) and was passed over.</source>
        <translation>1 个文件按名称不是图像（%1），已略过。</translation>
    </message>
    <message>
        <source>No checkpoint could be written: while the run pauses, what it has learned since the last one is in its memory alone. %1</source>
        <translation>无法写入检查点：暂停期间，上一个检查点之后学到的内容只保存在该运行的内存中。%1</translation>
    </message>
    <message>
        <source>This step needs %1 (weights %2, optimizer %3, activations and workspace %4, the data set %5), but the limit is %6. Most is in use at %7 of layer &apos;%8&apos;, with %9.</source>
        <translation>这一步需要 %1（权重 %2，优化器 %3，激活与工作区 %4，数据集 %5），但上限是 %6。占用最多的是层“%8”的 %7，为 %9。</translation>
    </message>
    <message>
        <source>This step needs %1 (weights %2, optimizer %3, activations and workspace %4), but the limit is %5. Most is in use at %6 of layer &apos;%7&apos;, with %8.</source>
        <translation>这一步需要 %1（权重 %2，优化器 %3，激活与工作区 %4），但上限是 %5。占用最多的是层“%7”的 %6，为 %8。</translation>
    </message>
    <message>
        <source>The supervisor was ended.</source>
        <translation>监管进程被结束了。</translation>
    </message>
    <message>
        <source>It was waiting in the queue when its supervisor was ended. Resume it to train it.</source>
        <translation>它在队列中等待时，其监管进程被结束了。继续此运行即可训练。</translation>
    </message>
    <message>
        <source>It was waiting in the queue when its supervisor was lost. Resume it to train it.</source>
        <translation>它在队列中等待时，其监管进程丢失了。继续此运行即可训练。</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>A studio for training image networks.</source>
        <translation>训练图像网络的工作室。</translation>
    </message>
    <message>
        <source>Play the events of a run&apos;s folder through the window, without an engine.</source>
        <translation>在窗口中回放运行文件夹里的事件，不需要引擎。</translation>
    </message>
    <message>
        <source>So many times as fast as it was; 0: all at once.</source>
        <translation>回放速度的倍数；0：一次全部显示。</translation>
    </message>
    <message>
        <source>The espalier-train to use.</source>
        <translation>要使用的 espalier-train。</translation>
    </message>
    <message>
        <source>A run folder or checkpoint to show, or a folder of images to train with.</source>
        <translation>要显示的运行文件夹或检查点，或用于训练的图像文件夹。</translation>
    </message>
</context>
</TS>
