import type { Event } from "@delivery/domain/events/Event"
import type { Actor } from "@delivery/domain/identity/Actor"

/** Who did something, by name, as it can be shown. */
export const actorName = (actor: Actor): string => {
  switch (actor.kind) {
    case "user":
    case "apiKey":
    case "deploymentToken":
      return actor.name
    case "agent":
      return `${actor.name} of ${actor.person.name}`
    case "removed":
      return "somebody who was removed"
  }
}

/** Who did what an event tells, and what did it in their name: "Test rule (2 of 3 runs), as Ana". */
export const doerOf = ({ actor, changes }: Pick<Event, "actor" | "changes">): string => {
  const by = changes.find(({ field }) => field === byField)?.to
  if (by === undefined || by === null) return actorName(actor)
  return `${by.charAt(0).toUpperCase() + by.slice(1)}, as ${actorName(actor)}`
}

/** What was changed, and not by what. */
export const changesOf = ({ changes }: Pick<Event, "changes">) => changes.filter(({ field }) => field !== byField)

const byField = "by"
