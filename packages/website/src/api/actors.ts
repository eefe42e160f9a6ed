import type { Actor } from "@delivery/domain/identity/Actor"

/** Who did something, by name. */
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
