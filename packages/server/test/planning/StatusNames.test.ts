import { assert, describe, it } from "@effect/vitest"
import type { TeamId } from "@delivery/domain/Ids"
import * as fc from "fast-check"
import {
  followName,
  type NamingTeam,
  replaceNames,
  visibleNames,
  type StatusNames
} from "../../src/planning/StatusNames.ts"
import { newId } from "../identity/Scene.ts"

const [openTeam, otherTeam, privateTeam] = [newId<TeamId>(), newId<TeamId>(), newId<TeamId>()]

/** Teams with their names of statuses, and a view of them all; a world may lack the private team. */
class World {
  readonly names = new Map<TeamId, Set<string>>()
  view: StatusNames = { statuses: ["a", "B", "c"], followed: [] }

  constructor(teams: ReadonlyArray<TeamId>) {
    for (const team of teams) this.names.set(team, new Set(["a", "b"]))
  }

  teams(isInsider: boolean): ReadonlyArray<NamingTeam> {
    const followed = new Set(this.view.followed.map(({ from }) => from))
    return [...this.names]
      .map(([id, names]) => ({
        id,
        isSeen: id !== privateTeam || isInsider,
        isSeenByAll: id !== privateTeam,
        has: [...names].filter((name) => followed.has(name))
      }))
      .filter(({ has, id }) => has.length > 0 || this.view.followed.some(({ teamId }) => teamId === id))
  }

  shown(isInsider: boolean) {
    return visibleNames(this.view, this.teams(isInsider))
  }

  /** Renames a status, deletes it, or makes one. */
  change(team: TeamId, from: string | null, to: string | null) {
    const names = this.names.get(team)
    if (names === undefined || (from !== null && !names.has(from)) || (to !== null && names.has(to))) return
    if (from !== null) names.delete(from)
    if (to !== null) names.add(to)
    if (from !== null) this.view = followName(this.view, { teamId: team, from, to }, true) ?? this.view
  }

  send(isInsider: boolean, sent: ReadonlyArray<string>) {
    this.view = replaceNames(this.view, this.teams(isInsider), sent)
  }
}

const keys = (names: ReadonlyArray<string>) => names.map((name) => name.toLowerCase())
const name = fc.constantFrom("a", "b", "c", "d", "e")
const change = fc.record({
  kind: fc.constant("change" as const),
  team: fc.constantFrom(openTeam, otherTeam, privateTeam),
  from: fc.option(name),
  to: fc.option(name)
})
const sent = fc.record({ kind: fc.constant("send" as const), names: fc.uniqueArray(name, { maxLength: 4 }) })
const steps = fc.array(fc.oneof({ arbitrary: change, weight: 4 }, sent), { minLength: 1, maxLength: 25 })

describe("StatusNames", () => {
  it("shows a viewer who cannot see a team what they would see if it did not exist", () => {
    fc.assert(
      fc.property(steps, (steps) => {
        const [all, without] = [new World([openTeam, otherTeam, privateTeam]), new World([openTeam, otherTeam])]
        for (const step of steps) {
          for (const world of [all, without]) {
            if (step.kind === "change") world.change(step.team, step.from, step.to)
            else world.send(false, step.names)
          }
          assert.deepStrictEqual(all.shown(false), without.shown(false))
          if (step.kind === "send") assert.deepStrictEqual(all.shown(false), step.names)
        }
      }),
      { numRuns: 2000 }
    )
  })

  it("keeps names that the sender cannot see", () => {
    fc.assert(
      fc.property(steps, fc.uniqueArray(name), (steps, names) => {
        const world = new World([openTeam, otherTeam, privateTeam])
        for (const step of steps) {
          if (step.kind === "change") world.change(step.team, step.from, step.to)
          else world.send(false, step.names)
        }
        const seen = new Set(keys(world.shown(false)))
        const unseen = keys(world.shown(true)).filter((name) => !seen.has(name))
        world.send(false, names)
        assert.includeMembers(keys(world.shown(true)), unseen)
      }),
      {
        numRuns: 2000,
        examples: [
          [
            [
              { kind: "change", team: privateTeam, from: "a", to: null },
              { kind: "change", team: otherTeam, from: "a", to: null },
              { kind: "change", team: openTeam, from: "a", to: null },
              { kind: "change", team: privateTeam, from: "b", to: "a" }
            ],
            ["a"]
          ]
        ]
      }
    )
  })

  it("does not disclose a private team's names that a member of it sends", () => {
    fc.assert(
      fc.property(steps, fc.func(fc.boolean()), fc.boolean(), (steps, isSent, isMore) => {
        const world = new World([openTeam, otherTeam, privateTeam])
        for (const step of steps) {
          if (step.kind === "change") world.change(step.team, step.from, step.to)
          else world.send(false, step.names)
        }
        const outside = new Set(keys(world.shown(false)))
        const names = [...world.shown(true).filter((name) => isSent(name)), ...(isMore ? ["new"] : [])]
        world.send(true, names)
        assert.sameMembers(keys(world.shown(true)), keys(names))
        assert.isEmpty(keys(world.shown(false)).filter((name) => name !== "new" && !outside.has(name)))
        // What the team does next is followed in it.
        for (const from of world.names.get(privateTeam) ?? []) {
          if (!keys(world.shown(true)).includes(from) || keys(world.shown(false)).includes(from)) continue
          world.change(privateTeam, from, "next")
          assert.include(world.shown(true), "next")
          assert.notInclude(world.shown(false), "next")
          break
        }
      }),
      { numRuns: 2000 }
    )
  })
})
