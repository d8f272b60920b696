"""Redis as Celery's broker, for workers that outlive its refusals.

A server that answers with an error, because it is read-only after a failover, or out of memory or disk, is one that is
not there: the worker connects again until it serves. To Celery such an answer is a bug, which ends the worker with all
that it runs.
"""

from kombu.transport import redis


class PatientTransport(redis.Transport):
    """As kombu's own; only what counts as a lost connection is more."""

    connection_errors = (
        *redis.Transport.connection_errors,
        *redis.Transport.channel_errors,
    )
