import type { Actor } from "@delivery/domain/identity/Actor"

/** Whether the person, or an agent of theirs, made it. */
export const isMadeBy = (me: string | undefined, { createdBy }: { readonly createdBy: Actor }): boolean =>
  me === (createdBy.kind === "agent" ? createdBy.person.id : createdBy.kind === "user" ? createdBy.id : null)
