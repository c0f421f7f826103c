#include "tests/fake_device/_fake_device.h"

namespace rlgo::test {

C10_REGISTER_GUARD_IMPL(PrivateUse1, fake_device::Streams)

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", fake_device::empty);
  m.impl("empty_strided", fake_device::empty_strided);
  m.impl("resize_", fake_device::fit);
  m.impl("_copy_from", fake_device::copy_from);
  m.impl("_copy_from_and_resize", fake_device::copy_from_and_resize);
  m.impl("_local_scalar_dense", fake_device::item);
  m.impl("_thnn_fused_lstm_cell", fake_device::lstm);
  m.impl("_thnn_fused_lstm_cell_backward_impl", fake_device::lstm_backward);
  m.impl("_cudnn_rnn_flatten_weight", fake_device::flatten);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("view", at::native::view);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fake_device::kernel>()); }

}  // namespace rlgo::test
