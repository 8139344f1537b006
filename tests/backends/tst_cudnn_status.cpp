// SPDX-License-Identifier: Apache-2.0
// What becomes of cuDNN's answers: the ladder does not do the same about each.
#include "backends/cuda/cudnn/library.h"

#include <QtTest>
#include <cstring>

using namespace espalier;
using cuda::cudnn::Refusal;

namespace {

const char* kind_of(cudnnStatus_t status) {
    try {
        cuda::cudnn::check(status, "a call");
    } catch (const OutOfMemory&) {
        return "memory";
    } catch (const Refusal&) {
        return "refusal";
    } catch (const DeviceError& error) {
        return std::strstr(error.what(), "a call") != nullptr ? "fault" : "a fault without its call";
    }
    return "nothing";
}

} // namespace

class TestCudnnStatus : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void each_answer_has_its_kind() {
        QCOMPARE(kind_of(CUDNN_STATUS_SUCCESS), "nothing");
        for (const auto status : {CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                                  CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED_LAYOUT})
            QCOMPARE(kind_of(status), "refusal");
        QCOMPARE(kind_of(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED), "memory");
        for (const auto status :
             {CUDNN_STATUS_NOT_INITIALIZED, CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_INTERNAL_ERROR,
              CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER})
            QCOMPARE(kind_of(status), "fault");
    }
};

QTEST_GUILESS_MAIN(TestCudnnStatus)
#include "tst_cudnn_status.moc"
