import { eventKinds } from "@delivery/domain/events/EventKinds"

/** The types of what events are about, and their kinds. Loaded for filters and forms. Pure. */

/** The noun of a kind: `team` of `team_member_added`. */
const typeOf = (kind: string): string => kind.slice(0, kind.indexOf("_"))

export const typesOfEvents: ReadonlyArray<string> = [...new Set(eventKinds.map(typeOf))]

export const kindsOf = (types: ReadonlyArray<string>): ReadonlyArray<string> =>
  eventKinds.filter((kind) => types.includes(typeOf(kind)))

export { eventKinds }
