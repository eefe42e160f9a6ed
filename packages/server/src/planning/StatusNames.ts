import type { TeamId } from "@delivery/domain/Ids"
import { nameKey } from "@delivery/domain/Text"

/**
 * The names of statuses in a view's filter. They stay as they were saved. `followed` says what each team calls those
 * statuses now, so that a viewer's filter follows the teams that they see and discloses nothing of other teams.
 */
export interface StatusNames {
  readonly statuses: ReadonlyArray<string>
  readonly followed: ReadonlyArray<FollowedName>
}

/** The present name, in one team, of the status that had a saved name. */
export interface FollowedName {
  readonly teamId: TeamId
  /** The key of the saved name; null for a name that only those who see the team have in the filter. */
  readonly from: string | null
  /** Null where the status was deleted. */
  readonly to: string | null
}

/** A team in which a name was followed, or a team of the view's scope that has a followed name still. */
export interface NamingTeam {
  readonly id: TeamId
  readonly isSeen: boolean
  /** Whether everybody who sees the view sees the team. */
  readonly isSeenByAll: boolean
  /** The keys of followed names that its statuses have, where the view shows its tickets. */
  readonly has: ReadonlyArray<string>
}

/** A status of a team that gets another name or, where `to` is null, is deleted. */
export interface StatusNameChange {
  readonly teamId: TeamId
  readonly from: string
  readonly to: string | null
}

/**
 * The names as a viewer sees them: in place of a saved name, those that it has become. The saved name stays beside them
 * where a team still has it.
 */
export const visibleNames = (names: StatusNames, teams: ReadonlyArray<NamingTeam>): ReadonlyArray<string> =>
  namesIn(
    names,
    teams.filter(({ isSeen }) => isSeen)
  )

/** The names after a change in a team; undefined where nothing changes. Out of the view's scope, saved names stay. */
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
 * The names that a viewer sends in place of those that they see. Names that the viewer does not see stay, for those who
 * do. A name that the viewer has from a team that others do not see stays with that team.
 */
export const replaceNames = (
  before: StatusNames,
  teams: ReadonlyArray<NamingTeam>,
  sent: ReadonlyArray<string>
): StatusNames => {
  const visible = keysOf(visibleNames(before, teams))
  const visibleToAll = keysOf(
    namesIn(
      before,
      teams.filter(({ isSeenByAll }) => isSeenByAll)
    )
  )
  const isOfSome = (key: string) => visible.has(key) && !visibleToAll.has(key)
  const sentKeys = keysOf(sent)
  const statuses = sent.filter((name) => !isOfSome(nameKey(name)))
  const saved = keysOf(statuses)
  const unseen = new Set(teams.filter(({ isSeen }) => !isSeen).map(({ id }) => id))
  const kept = before.followed.filter(({ from, teamId }) => unseen.has(teamId) && from !== null && saved.has(from))
  const alone = teams.flatMap(({ id: teamId, ...team }) =>
    namesOf(before, { ...team, id: teamId })
      .filter((name) => {
        const key = nameKey(name)
        // A saved name says nothing of a team in which that status has another name, or none.
        const isSaved = saved.has(key) && !kept.some((name) => name.teamId === teamId && name.from === key)
        return !isSaved && (team.isSeen ? isOfSome(key) && sentKeys.has(key) : !visible.has(key))
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

/** The names for a viewer who sees only these teams. */
const namesIn = ({ followed, statuses }: StatusNames, teams: ReadonlyArray<NamingTeam>): ReadonlyArray<string> => {
  const known = followed.filter(({ teamId }) => teams.some(({ id }) => id === teamId))
  const presentNames = (key: string | null) => known.filter(({ from }) => from === key).flatMap(({ to }) => to ?? [])
  return distinctNames([
    ...statuses.flatMap((name) => {
      const key = nameKey(name)
      const stays = !known.some(({ from }) => from === key) || teams.some((team) => keeps(followed, team, key))
      return [...(stays ? [name] : []), ...presentNames(key)]
    }),
    ...presentNames(null)
  ])
}

/** Those of the names that one team has. */
const namesOf = ({ followed, statuses }: StatusNames, team: NamingTeam): ReadonlyArray<string> =>
  distinctNames([
    ...followed.filter(({ teamId }) => teamId === team.id).flatMap(({ to }) => to ?? []),
    ...statuses.filter((name) => keeps(followed, team, nameKey(name)))
  ])
