"""Attestations: a sweep's seal, signed by whoever vouches for it, in a form that other tools check too."""

from farm.attestation.attest import attest, attestation_problems

__all__ = ["attest", "attestation_problems"]
