"""Who has AI sessions in the demo: tenants of very different size, their workspaces, slices, people and documents."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from random import Random
from uuid import UUID

# Tenant -> how much of the traffic is theirs. The last two are new: their workspaces have few rated sessions.
TENANTS = {
    "Aldgate": 26,
    "Birchwood": 20,
    "Calder": 16,
    "Dunmore": 13,
    "Eastwick": 11,
    "Fenwick": 8,
    "Garnet": 1.2,
    "Hollis": 0.6,
}
WORKSPACES = ("platform", "billing", "mobile", "research")
TYPES = {
    "architecture": 1400,
    "requirement": 900,
    "runbook": 700,
    "decision": 500,
    "glossary": 250,
    "code_sample": 1100,
    "meeting_note": 600,
}


# What people use the assistant for, how often, and the types of documents that belong to it: teams have their habits, so most
# sessions of a kind use the same types.
TASKS = {
    "feature": (40, ("requirement", "architecture", "code_sample")),
    "bug": (30, ("runbook", "code_sample")),
    "question": (20, ("glossary", "decision")),
    "summary": (10, ("meeting_note",)),
}


@dataclass(frozen=True)
class Document:
    """`worth` moves the chance that a session with it goes well."""

    id: str
    type: str
    name: str
    tokens: int
    worth: float


@dataclass(frozen=True)
class Workspace:
    id: str
    tenant_id: str
    tenant: str
    slices: tuple[str, ...]
    users: tuple[str, ...]
    reviewers: tuple[str, ...]
    documents: tuple[Document, ...]
    weight: float
    skill: float  # how well the assistant does here

    @cached_property
    def by_type(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = defaultdict(list)
        for document in self.documents:
            found[document.type].append(document)
        return found


def new_id(rng: Random) -> str:
    return str(UUID(int=rng.getrandbits(128), version=4))


def make_workspaces(rng: Random) -> list[Workspace]:
    found = []
    for tenant, weight in TENANTS.items():
        tenant_id = new_id(rng)
        count = 1 if weight < 5 else rng.randint(2, len(WORKSPACES))
        shares = [rng.uniform(0.5, 1.5) for _ in range(count)]
        for name, share in zip(WORKSPACES, shares, strict=False):
            people = [new_id(rng) for _ in range(rng.randint(8, 30))]
            found.append(
                Workspace(
                    new_id(rng),
                    tenant_id,
                    tenant,
                    tuple(new_id(rng) for _ in range(rng.randint(2, 4))),
                    tuple(people),
                    tuple(people[:3]),
                    tuple(_documents(rng, f"{tenant} {name}")),
                    weight * share / sum(shares),
                    rng.uniform(-0.08, 0.1),
                )
            )
    return found


def _documents(rng: Random, about: str) -> list[Document]:
    kinds = list(TYPES)
    return [
        Document(
            new_id(rng),
            kind := kinds[number % len(kinds)],
            f"{about} {kind.replace('_', ' ')} {number}",
            max(50, int(rng.gauss(TYPES[kind], TYPES[kind] / 4))),
            rng.choice((-0.2, 0.0, 0.0, 0.05, 0.15)),
        )
        for number in range(1, rng.randint(16, 36))
    ]
