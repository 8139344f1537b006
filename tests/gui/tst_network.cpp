// SPDX-License-Identifier: GPL-3.0-or-later
// The graph of a network: blocks from paths, a layout in which nothing overlaps and everything flows downwards, and the
// canvas under real clicks. The networks are those that the engine tells.
#include "network_canvas.h"
#include "network_view.h"
#include "run_model.h"
#include "theme.h"
#include "watched_test.h"
#include "worker/protocol.h"

#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QWheelEvent>

using namespace espalier;
using namespace espalier::test;

namespace {

/// What the engine tells.
Json nodes_json(const QByteArray& name) {
    static QMap<QByteArray, QByteArray> told;
    QByteArray& text = told[name];
    if (text.isEmpty()) {
        QProcess process;
        process.start(QStringLiteral(NETWORK_SAMPLES), {QString::fromLatin1(name)});
        process.waitForFinished();
        text = process.readAllStandardOutput();
    }
    return Json::parse(text.toStdString());
}

/// As a run's model has them, by the plan event.
RunModel::Plan plan_of(const QByteArray& name) {
    Json event = protocol::make_event("plan");
    event["nodes"] = nodes_json(name);
    event["batch"] = 16;
    RunModel model(QStringLiteral("/runs/a"));
    protocol::LineReader reader([&](Json line) { model.apply(read_event(std::move(line))); });
    for (const auto& line : protocol::to_lines(event)) // a long one comes in several
        reader.feed(line);
    return model.plan().value();
}

QSet<int> all_blocks(const NetworkTree& tree) {
    QSet<int> open;
    for (std::size_t i = 1; i < tree.items().size(); ++i)
        if (tree.items()[i].is_block())
            open.insert(static_cast<int>(i));
    return open;
}

int item_of(const NetworkTree& tree, const QString& path, bool block) {
    for (std::size_t i = 1; i < tree.items().size(); ++i)
        if (tree.items()[i].path == path && tree.items()[i].is_block() == block)
            return static_cast<int>(i);
    return -1;
}

/// The item that stands for a node where only `open` blocks are open.
int shown_for(const NetworkTree& tree, const QSet<int>& open, int node) {
    int shown = tree.leaf(node);
    for (int item = shown; item > 0; item = tree.item(item).parent)
        if (tree.item(item).is_block() && !open.contains(item))
            shown = item;
    return shown;
}

/// What is wrong with a layout; empty: nothing.
QString fault_of(const NetworkTree& tree, const QSet<int>& open, const NetworkLayout& layout) {
    QMap<int, QRectF> places;
    QMap<int, QList<int>> siblings;
    for (const auto& box : layout.boxes) {
        if (places.contains(box.item))
            return QStringLiteral("a box stands twice");
        if (box.open != open.contains(box.item) || box.place.isEmpty())
            return QStringLiteral("a box is open that is not, or empty");
        places[box.item] = box.place;
        siblings[tree.item(box.item).parent].append(box.item);
    }
    for (auto each = siblings.cbegin(); each != siblings.cend(); ++each) {
        if (each.key() > 0)
            for (int inner : each.value())
                if (!places.value(each.key()).contains(places[inner]))
                    return QStringLiteral("%1 reaches beyond its block").arg(tree.item(inner).path);
        QList<int> in_order = each.value();
        std::ranges::sort(in_order, {}, [&](int item) { return places[item].top(); });
        for (qsizetype i = 0; i < in_order.size(); ++i)
            for (qsizetype k = i + 1; k < in_order.size() && places[in_order[k]].top() < places[in_order[i]].bottom();
                 ++k)
                if (places[in_order[i]].intersects(places[in_order[k]]))
                    return QStringLiteral("%1 and %2 overlap")
                        .arg(tree.item(in_order[i]).path, tree.item(in_order[k]).path);
    }
    QSet<std::pair<int, int>> drawn;
    for (const auto& edge : layout.edges) {
        if (edge.points.size() < 2 || edge.points.size() % 2 != 0)
            return QStringLiteral("an edge has no way");
        for (std::size_t i = 1; i < edge.points.size(); ++i)
            if (edge.points[i].y() < edge.points[i - 1].y() - 1e-6)
                return QStringLiteral("an edge from %1 goes upwards").arg(tree.item(std::max(edge.from, 0)).path);
        drawn.insert({edge.from, edge.to});
        if (edge.from >= 0 && std::abs(edge.points.front().y() - places.value(edge.from).bottom()) > 1e-6)
            return QStringLiteral("an edge does not begin at its box");
        if (edge.to >= 0 && std::abs(edge.points.back().y() - places.value(edge.to).top()) > 1e-6)
            return QStringLiteral("an edge does not end at its box");
    }
    for (std::size_t node = 0; node < tree.nodes().size(); ++node)
        for (int input : tree.nodes()[node].inputs) {
            const int from = shown_for(tree, open, input), to = shown_for(tree, open, static_cast<int>(node));
            if (from == to)
                continue;
            const bool left = tree.item(from).parent == tree.item(to).parent
                                  ? drawn.contains({from, to})
                                  : drawn.contains({from, -1}) || drawn.contains({-1, to});
            if (!left)
                return QStringLiteral("the edge from %1 to %2 is missing")
                    .arg(tree.item(from).path, tree.item(to).path);
        }
    return {};
}

void wheel(QWidget& widget, QPointF at, int steps) {
    QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, 120 * steps}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(&widget, &event);
}

struct Shown {
    NetworkCanvas canvas;
    explicit Shown(const QByteArray& network) {
        canvas.resize(900, 600);
        canvas.show();
        canvas.set_nodes(plan_of(network).nodes);
    }
    void click(int item, bool twice = false) {
        const QPoint at = QRectF(canvas.place_of(item)).topLeft().toPoint() + QPoint(8, 8);
        if (twice)
            QTest::mouseDClick(&canvas, Qt::LeftButton, {}, at);
        else
            QTest::mouseClick(&canvas, Qt::LeftButton, {}, at);
    }
    [[nodiscard]] int item(const QString& path, bool block = true) const {
        return item_of(*canvas.tree(), path, block);
    }
};

} // namespace

class TestNetwork : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); }

    void blocks_come_from_paths() {
        const NetworkTree tree(plan_of("resnet").nodes);
        QStringList names;
        for (int child : tree.item(0).children)
            names.append(tree.item(child).name);
        QCOMPARE(names, (QStringList{"", "stem", "blocks.0", "blocks.1", "blocks.2", "blocks.3", "blocks.4", "blocks.5",
                                     "blocks.6", "blocks.7", "blocks.8", "classifier"}));
        const auto& block = tree.item(item_of(tree, "blocks.3", true));
        QCOMPARE(block.count, 9); // two convolutions, three batch norms, two ReLUs ... and the shortcut's
        QCOMPARE(tree.shape_of(block.last), QStringLiteral("32×16×16"));
        QVERIFY(item_of(tree, "blocks.3.shortcut", true) > 0);
        QCOMPARE(item_of(tree, "blocks", true), -1);
        QCOMPARE(item_of(tree, "blocks.0.conv1", true), -1); // a single operation is no block
        QVERIFY(item_of(tree, "blocks.0.conv1", false) > 0);
    }

    void sums_are_those_of_the_network() {
        const NetworkTree tree(plan_of("resnet").nodes);
        double parameters = 0, flops = 0;
        for (const auto& node : tree.nodes()) {
            parameters += node.parameters;
            flops += node.flops;
        }
        QCOMPARE(tree.item(0).parameters, parameters);
        QCOMPARE(tree.item(0).flops, flops);
        QCOMPARE(parameters, 272'474.0); // ResNet-20 of He et al., with projections
    }

    void layouts_are_sound_data() {
        QTest::addColumn<QByteArray>("network");
        for (const char* name : {"quick", "resnet", "growing", "supernet", "genotype"})
            QTest::newRow(name) << QByteArray(name);
    }
    void layouts_are_sound() {
        QFETCH(QByteArray, network);
        const NetworkTree tree(plan_of(network).nodes);
        QCOMPARE(tree.nodes().size(), nodes_json(network).size());
        const QSet<int> all = all_blocks(tree);
        QSet<int> some;
        for (int block : all)
            if (block % 2 == 0)
                some.insert(block);
        QSet<int> outer;
        for (int block : all)
            if (tree.item(block).depth == 1)
                outer.insert(block);
        for (const auto& open : {QSet<int>(), outer, all}) {
            const auto fault = fault_of(tree, open, lay_out(tree, open));
            QVERIFY2(fault.isEmpty(), qPrintable(fault));
        }
        (void)lay_out(tree, some); // blocks inside of closed ones too: no harm
    }

    void nothing_to_draw_is_no_fault() {
        QVERIFY(lay_out(NetworkTree(), {}).boxes.empty());
        NetworkCanvas canvas;
        canvas.resize(300, 200);
        canvas.show();
        canvas.set_nodes({});
        canvas.open_all();
        canvas.fit();
        QTest::keyClick(&canvas, Qt::Key_Down);
        wheel(canvas, {10, 10}, 1);
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, {20, 20});
        QCOMPARE(canvas.selected(), -1);
        canvas.set_nodes({NetworkNode{{}, "images", "1x1x2x2", {}}});
        QCOMPARE(canvas.layout_in_sight().boxes.size(), std::size_t{1});
    }

    void a_click_selects_and_a_double_click_opens() {
        Shown shown("resnet"); // 60 operations: as blocks
        auto& canvas = shown.canvas;
        QCOMPARE(canvas.layout_in_sight().boxes.size(), std::size_t{12});
        const int block = shown.item("blocks.3");
        QSignalSpy selections(&canvas, &NetworkCanvas::selection_changed);
        shown.click(block);
        QCOMPARE(canvas.selected(), block);
        QCOMPARE(selections.size(), 1);
        const QPointF before = canvas.place_of(block).topLeft();
        shown.click(block, true);
        QVERIFY(!canvas.place_of(shown.item("blocks.3.conv1", false)).isEmpty());
        QVERIFY(canvas.place_of(shown.item("blocks.2.conv1", false)).isEmpty());
        shown.click(block, true);
        QCOMPARE(canvas.layout_in_sight().boxes.size(), std::size_t{12});
        QVERIFY((canvas.place_of(block).topLeft() - before).manhattanLength() < 100);
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, {3, 3}); // beside everything
        QCOMPARE(canvas.selected(), -1);
    }

    void keys_do_what_the_mouse_does() {
        Shown shown("resnet");
        auto& canvas = shown.canvas;
        canvas.setFocus();
        QTest::keyClick(&canvas, Qt::Key_Down);
        for (const char* next : {"stem", "blocks.0", "blocks.1"}) {
            QTest::keyClick(&canvas, Qt::Key_Down);
            QCOMPARE(canvas.tree()->item(canvas.selected()).path, QString(next));
        }
        QTest::keyClick(&canvas, Qt::Key_Up);
        QCOMPARE(canvas.selected(), shown.item("blocks.0"));
        QTest::keyClick(&canvas, Qt::Key_Return);
        QVERIFY(!canvas.place_of(shown.item("blocks.0.conv1", false)).isEmpty());
        QTest::keyClick(&canvas, Qt::Key_Down);
        QCOMPARE(canvas.tree()->item(canvas.selected()).path, QStringLiteral("blocks.0.conv1"));
        const double zoom = canvas.zoom();
        QTest::keyClick(&canvas, Qt::Key_Plus);
        QVERIFY(canvas.zoom() > zoom);
        QTest::keyClick(&canvas, Qt::Key_Minus);
        QTest::keyClick(&canvas, Qt::Key_Minus);
        QVERIFY(canvas.zoom() < zoom);
        for (int i = 0; i < 30; ++i)
            QTest::keyClick(&canvas, Qt::Key_Down); // to the end, which comes into sight
        QVERIFY(canvas.rect().intersects(canvas.place_of(canvas.selected()).toRect()));
        QTest::keyClick(&canvas, Qt::Key_Home);
        QVERIFY(canvas.accessibleDescription().contains("classifier"));
    }

    void the_wheel_zooms_where_it_points_and_dragging_moves() {
        Shown shown("quick");
        auto& canvas = shown.canvas;
        const int item = canvas.layout_in_sight().boxes.front().item;
        const QPointF corner = canvas.place_of(item).topLeft();
        wheel(canvas, corner, 2);
        QVERIFY((canvas.place_of(item).topLeft() - corner).manhattanLength() < 1);
        QVERIFY(canvas.zoom() > 0.6);
        const QPoint from(450, 300), to(480, 350);
        const QPointF before = canvas.place_of(item).topLeft();
        QTest::mousePress(&canvas, Qt::LeftButton, {}, from);
        QTest::mouseMove(&canvas, to);
        QTest::mouseRelease(&canvas, Qt::LeftButton, {}, to);
        QCOMPARE((canvas.place_of(item).topLeft() - before).toPoint(), to - from);
        for (int i = 0; i < 200; ++i)
            wheel(canvas, {5, 5}, i % 2 ? 3 : -7); // never lost
        QVERIFY(canvas.zoom() > 0);
        canvas.fit();
        QVERIFY(canvas.rect().contains(canvas.place_of(item).toRect()));
    }

    void a_network_of_thousands_does_not_block() { // the watchdog looks on
        Shown shown("genotype");
        auto& canvas = shown.canvas;
        QVERIFY(canvas.tree()->nodes().size() > 3000);
        QTRY_VERIFY(canvas.layout_in_sight().boxes.size() > 100);
        canvas.open_all();
        QTRY_VERIFY_WITH_TIMEOUT(canvas.layout_in_sight().boxes.size() > 3000, 20000);
        canvas.close_all();
        canvas.open_all();
        canvas.close_all(); // the last wish counts, whichever layout comes last
        QTRY_VERIFY_WITH_TIMEOUT(canvas.layout_in_sight().boxes.size() < 200, 20000);
        QTest::qWait(300);
        QVERIFY(canvas.layout_in_sight().boxes.size() < 200);
    }

    void the_tab_says_what_a_box_takes() {
        NetworkView view;
        view.resize(900, 600);
        view.show();
        auto* caption = view.findChild<QLabel*>("networkCaption");
        auto* details = view.findChild<QLabel*>("networkDetails");
        auto* canvas = view.findChild<NetworkCanvas*>();
        view.show_run(nullptr);
        const auto* empty = view.findChild<QLabel*>("emptyWords");
        QVERIFY(empty->isVisible() && empty->text().contains("once it is built"));
        QVERIFY(!canvas->isVisible());

        RunModel old(QStringLiteral("/runs/old"));
        old.apply(read_event(protocol::make_event("plan")));
        view.show_run(&old);
        QVERIFY2(empty->text().contains("does not tell"), qPrintable(empty->text()));
        const auto* resume = view.findChild<QPushButton*>("emptyResume");
        QVERIFY(!resume->isVisible());
        old.close(); // then it can be resumed
        view.refresh();
        QVERIFY(resume->isVisible() && !caption->isVisible());

        RunModel model(QStringLiteral("/runs/a"));
        Json event = protocol::make_event("plan");
        event.update(
            {{"nodes", nodes_json("resnet")},
             {"batch", 16},
             {"layers",
              {{{"layer", "blocks.3.conv1"}, {"kind", "conv2d"}, {"kernel", "winograd"}, {"memory", 1 << 20}}}}});
        model.apply(read_event(event));
        view.show_run(&model);
        QVERIFY(!empty->isVisible());
        QVERIFY2(caption->text().contains("272,474 parameters"), qPrintable(caption->text()));
        QVERIFY(canvas->isVisible());
        QTest::mouseClick(view.findChild<QPushButton*>("openBlocks"), Qt::LeftButton);
        const int conv = item_of(*canvas->tree(), "blocks.3.conv1", false);
        QTRY_VERIFY(!canvas->place_of(conv).isEmpty());
        for (int i = 0; i < 20 && !canvas->rect().contains(canvas->place_of(conv).toRect()); ++i)
            wheel(*canvas, {450, 0}, -1);
        QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->place_of(conv).center().toPoint());
        QCOMPARE(canvas->selected(), conv);
        for (const char* word : {"blocks.3.conv1", "conv2d", "32×16×16", "4,608 parameters", "winograd", "1 MB"})
            QVERIFY2(details->text().contains(word), qPrintable(details->text()));
        QTest::mouseClick(view.findChild<QPushButton*>("closeBlocks"), Qt::LeftButton);
        QVERIFY(details->text().contains("Click a box"));
    }
};

WATCHED_TEST_MAIN(TestNetwork)
#include "tst_network.moc"
