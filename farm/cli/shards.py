"""How far the shards of a sweep are, for status."""

from farm.model import Opening, ShardClose, ShardOpening, parse_record, shards
from farm.model.keys import shard_close_key, shard_open_key
from farm.ports import Records


def shard_lines(opening: Opening, records: Records) -> tuple[str, ...]:
    """Say in a line each how the shards stand; nothing where the sweep is in one piece."""
    lines = list[str]()
    for shard in shards(opening.shards):
        key = shard_close_key(opening.sweep, shard.number)
        body = records.read(key)
        if body is not None:
            lines.append(f"shard {shard}: {parse_record(ShardClose, body, key).reason.value}")
            continue
        key = shard_open_key(opening.sweep, shard.number)
        body = records.read(key)
        if body is None:
            lines.append(f"shard {shard}: nobody has submitted it")
        else:
            opened = parse_record(ShardOpening, body, key)
            lines.append(f"shard {shard}: open since {opened.opened_at:%Y-%m-%d %H:%M} UTC, by {opened.submitted_by}")
    return tuple(lines)
