import type { TeamId } from "@delivery/domain/Ids"
import { nameKey } from "@delivery/domain/Text"

/**
 * The names of statuses in a view's filter. They stay as they were saved; beside them stands what became of them in
 * each team, so that a viewer's filter follows the teams that they see and tells nothing of others.
 */
export interface StatusNames {
  readonly statuses: ReadonlyArray<string>
  readonly followed: ReadonlyArray<FollowedName>
}

/** What a team calls the status now that had a saved name. */
export interface FollowedName {
  readonly teamId: TeamId
  /** The key of the saved name; null for a name that stands in the filter for those alone who see the team. */
  readonly from: string | null
  /** Null where the status was deleted. */
  readonly to: string | null
}

/** A team in which a name was followed, or one of the view's scope that still has a name that another one has not. */
export interface NamingTeam {
  readonly id: TeamId
  readonly isSeen: boolean
  /** By all who see the view. */
  readonly isSeenByAll: boolean
  /** The keys of followed names that its statuses have, where the view shows its tickets. */
  readonly has: ReadonlyArray<string>
}

/** A status whose name in a team changes, or, to null, goes. */
export interface StatusNameChange {
  readonly teamId: TeamId
  readonly from: string
  readonly to: string | null
}

/**
 * The names as a viewer has them: in place of a saved one those that it has become. It stays beside them where a team
 * has it still.
 */
export const shownNames = (names: StatusNames, teams: ReadonlyArray<NamingTeam>): ReadonlyArray<string> =>
  namesIn(
    names,
    teams.filter(({ isSeen }) => isSeen)
  )

/** The names after a change in a team; undefined where they stay. A team out of the view's scope keeps saved ones. */
export const followName = (
  { followed, statuses }: StatusNames,
  { from, teamId, to }: StatusNameChange,
  isInScope: boolean
): StatusNames | undefined => {
  const key = nameKey(from)
  const ofTeam = followed.filter((name) => name.teamId === teamId)
  const isNamed = (name: FollowedName) => name.teamId === teamId && name.to !== null && nameKey(name.to) === key
  const isSaved =
    isInScope && statuses.some((name) => nameKey(name) === key) && !ofTeam.some((name) => name.from === key)
  if (!isSaved && !ofTeam.some(isNamed)) return undefined
  const after = followed.map((name) => (isNamed(name) ? { ...name, to } : name))
  return {
    statuses,
    followed: [
      ...after.filter((name) => name.from !== null || name.to !== null),
      ...(isSaved ? [{ teamId, from: key, to }] : [])
    ]
  }
}

/**
 * The names that a viewer sends in place of those shown to them. What they do not see stays, for those who do; and what
 * they have of a team that others do not see stays with that team.
 */
export const replaceNames = (
  before: StatusNames,
  teams: ReadonlyArray<NamingTeam>,
  sent: ReadonlyArray<string>
): StatusNames => {
  const shown = keysOf(shownNames(before, teams))
  const shownToAll = keysOf(
    namesIn(
      before,
      teams.filter(({ isSeenByAll }) => isSeenByAll)
    )
  )
  const isOfSome = (key: string) => shown.has(key) && !shownToAll.has(key)
  const sentKeys = keysOf(sent)
  const statuses = sent.filter((name) => !isOfSome(nameKey(name)))
  const saved = keysOf(statuses)
  const unseen = new Set(teams.filter(({ isSeen }) => !isSeen).map(({ id }) => id))
  const kept = before.followed.filter(({ from, teamId }) => unseen.has(teamId) && from !== null && saved.has(from))
  const alone = teams.flatMap(({ id: teamId, ...team }) =>
    namesOf(before, { ...team, id: teamId })
      .filter((name) => {
        const key = nameKey(name)
        return !saved.has(key) && (team.isSeen ? isOfSome(key) && sentKeys.has(key) : !shown.has(key))
      })
      .filter((to) => !kept.some((name) => name.teamId === teamId && name.to === to))
      .map((to) => ({ teamId, from: null, to }))
  )
  return { statuses, followed: [...kept, ...alone] }
}

/** Each name once, whatever its case. */
export const distinctNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const keys = names.map(nameKey)
  return names.filter((_, i) => keys.indexOf(keys[i]!) === i)
}

const keysOf = (names: ReadonlyArray<string>): ReadonlySet<string> => new Set(names.map(nameKey))

/** Whether the team has a status of a saved name that was not followed in it. */
const keeps = (followed: ReadonlyArray<FollowedName>, team: NamingTeam, key: string): boolean =>
  team.has.includes(key) && !followed.some(({ from, teamId }) => teamId === team.id && from === key)

/** The names for who sees these teams alone. */
const namesIn = ({ followed, statuses }: StatusNames, teams: ReadonlyArray<NamingTeam>): ReadonlyArray<string> => {
  const known = followed.filter(({ teamId }) => teams.some(({ id }) => id === teamId))
  const become = (key: string | null) => known.filter(({ from }) => from === key).flatMap(({ to }) => to ?? [])
  return distinctNames([
    ...statuses.flatMap((name) => {
      const key = nameKey(name)
      const stays = !known.some(({ from }) => from === key) || teams.some((team) => keeps(followed, team, key))
      return [...(stays ? [name] : []), ...become(key)]
    }),
    ...become(null)
  ])
}

/** Those of the names that one team has. */
const namesOf = ({ followed, statuses }: StatusNames, team: NamingTeam): ReadonlyArray<string> =>
  distinctNames([
    ...followed.filter(({ teamId }) => teamId === team.id).flatMap(({ to }) => to ?? []),
    ...statuses.filter((name) => keeps(followed, team, nameKey(name)))
  ])
