/* The memory of proofs. */
#include "result/proof.h"

#include <string.h>

void iso_proof_free(iso_proof *proof) {
  iso_vec_free(&proof->cycle);
  iso_vec_free(&proof->reasons);
}
