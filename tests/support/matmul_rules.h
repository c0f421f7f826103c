// Rules that merge products of one input and fuse their activation.
#pragma once

namespace rlgo {

inline constexpr const char* kMatmulRules = R"(
rule merge-matmul
  before ?a ?b
  ?a = (matmul ?x ?u act=none)
  ?b = (matmul ?x ?v act=none)
  when rank(?u) == 2 and rank(?v) == 2 and rank(?x) == 2
  => ?y = (split (matmul ?x (concat ?u ?v axis=1) act=none) axis=1 sizes=[dim(?u, 1), dim(?v, 1)])
     ?a = ?y.0
     ?b = ?y.1

rule fuse-matmul-relu
  ?c = (matmul ?x ?w act=none)
  ?y = (relu ?c)
  when uses(?c) == 1
  => ?y = (matmul ?x ?w act=relu)
)";

}  // namespace rlgo
