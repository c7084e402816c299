import torch
import torch.nn.functional as F

from ops.case import case, values


def attention(q, k, v, causal, mask=None, scale=None):
    """q [batch, heads, time, size]; k and v may have fewer heads (grouped-query) and, unless
    causal, another time."""
    grouped = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped
    )


def inputs(heads, kv_heads, time, kv_time):
    return {
        "q": values(2, heads, time, 8),
        "k": values(2, kv_heads, kv_time, 8, seed=1),
        "v": values(2, kv_heads, kv_time, 8, seed=2),
    }


def cases():
    for causal in (False, True):
        name = "causal" if causal else "full"
        attrs = {"causal": causal}
        yield "attention", case(name, attention, inputs(2, 2, 7, 7), attrs)
        yield "attention", case(name + "_grouped", attention, inputs(4, 2, 5, 5), attrs)
        yield "attention", case(name + "_one_kv_head", attention, inputs(4, 1, 3, 3), attrs)
    yield "attention", case("cross", attention, inputs(2, 2, 3, 7), {"causal": False})
    yield "attention", case("scaled", attention, inputs(2, 2, 4, 4), {"causal": True, "scale": 0.5})
    mask = torch.ones(5, 6, dtype=torch.bool)
    mask[1, 2:] = False
    mask[3, :4] = False
    masked = inputs(2, 2, 5, 6) | {"mask": mask}
    yield "attention", case("masked", attention, masked, {"causal": False})
