import type { Ticket } from "@delivery/domain/planning/Ticket"

/** A name for a branch that a commit's ticket is found by: `eng-12-pay-by-card`. */
export const branchOf = ({ identifier, title }: Pick<Ticket, "identifier" | "title">): string => {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .match(/[a-z0-9]+/g)
  return [identifier.toLowerCase(), ...(words ?? [])].join("-").slice(0, 60).replace(/-+$/, "")
}
