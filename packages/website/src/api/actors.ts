import type { Actor } from "@delivery/domain/identity/Actor"
import { visible } from "../ui/format.ts"

/** Who did something, by name, as it can be shown. */
export const actorName = (actor: Actor): string => {
  switch (actor.kind) {
    case "user":
    case "apiKey":
    case "deploymentToken":
      return visible(actor.name)
    case "agent":
      return visible(`${actor.name} of ${actor.person.name}`)
    case "removed":
      return "somebody who was removed"
  }
}
