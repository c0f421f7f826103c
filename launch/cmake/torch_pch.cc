// Owner of the shared precompiled <torch/torch.h> (see rlgo_module.cmake). It has no code of its own.
