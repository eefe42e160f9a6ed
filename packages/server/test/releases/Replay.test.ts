import { assert } from "@effect/vitest"
import { maxListedSubject, type Release } from "@delivery/domain/releases/Release"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Releases } from "../../src/releases/Releases.ts"
import { addEnvironment } from "../catalog/Rows.ts"
import { as } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { deploymentIn, makeProduct, makeTeam, makeTicket } from "./Scene.ts"

/** Tags of a public repository as versions, each with the commits since the tag before it; the file says whose they are. */

interface Commit {
  readonly sha: string
  readonly at: string
  readonly subject: string
}

const { versions } = JSON.parse(readFileSync(join(import.meta.dirname, "commons-csv.json"), "utf8")) as {
  readonly versions: ReadonlyArray<{ readonly tag: string; readonly commits: ReadonlyArray<Commit> }>
}

/** How many tickets the team has: commits name more. */
const tickets = 185

const namedIn = (subject: string): ReadonlyArray<string> => {
  const numbers = subject
    .split(/[^A-Za-z0-9_-]+/)
    .flatMap((word) => /^\W*CSV-(\d+)(?![\w])/i.exec(word)?.[1] ?? [])
    .map(Number)
    .filter((number) => number >= 1 && number <= tickets)
  return [...new Set(numbers)].toSorted((a, b) => a - b).map((number) => `CSV-${number}`)
}

withServicesOnEachStorage("The releases of a public repository", (it) => {
  it.effect("are told as they were made in three environments", () =>
    Effect.gen(function* () {
      const releases = yield* Releases
      const scene = yield* makeProduct
      const { product, viewer } = scene
      yield* makeTeam(scene, "CSV")
      for (let made = 0; made < tickets; made++) yield* makeTicket(scene, "CSV")
      const qa = yield* addEnvironment(scene.workspace.id, { slug: "qa", name: "QA" })
      const environments = [qa, scene.staging, scene.production]
      const deployments = environments.map((environment) => deploymentIn(scene, product, environment))
      for (const { create } of deployments) yield* create()

      // Each version goes to the first environment, two of three to the next, and those that are no candidates to the last.
      const isReleasedTo = [
        () => true,
        (index: number) => index % 3 !== 1,
        (index: number) => !/RC/.test(versions[index]!.tag)
      ]
      const expected: Array<Array<{ version: string; at: string }>> = [[], [], []]
      for (const [index, { commits, tag }] of versions.entries()) {
        for (const [place, { get, update }] of deployments.entries()) {
          if (!isReleasedTo[place]!(index)) continue
          yield* TestClock.adjust("1 hour")
          yield* update({ version: tag, ...(place === 0 ? { commits } : {}) })
          expected[place]!.push({ version: tag, at: (yield* get).versionUpdatedAt })
        }
      }

      const commitsOf = (tag: string): Release["commits"] =>
        versions
          .find((version) => version.tag === tag)!
          .commits.map(({ at, sha, subject }) => ({
            sha,
            subject,
            at: new Date(at).toISOString(),
            tickets: namedIn(subject)
          }))
      for (const [place, { history }] of deployments.entries()) {
        const found = (yield* history()).toReversed()
        assert.deepStrictEqual(
          found.map(({ at, commits, number, previous, version }) => ({ number, version, previous, at, commits })),
          expected[place]!.map(({ at, version }, index) => ({
            number: index + 1,
            version,
            previous: expected[place]![index - 1]?.version ?? null,
            at,
            commits: commitsOf(version).map((commit) => ({
              ...commit,
              subject: commit.subject.slice(0, maxListedSubject)
            }))
          }))
        )
      }

      for (const { tag } of versions) {
        const version = yield* as(viewer)(releases.version(product.slug, tag))
        const places = environments.flatMap(({ name }, place) => {
          const index = expected[place]!.findIndex(({ version }) => version === tag)
          const until = expected[place]![index + 1]?.at ?? null
          return index === -1
            ? []
            : [[name, [{ number: index + 1, from: expected[place]![index]!.at, until }]] as const]
        })
        assert.deepStrictEqual(
          version.environments.map(({ environment, releases }) => [environment.name, releases] as const),
          places.toSorted(([a], [b]) => (a < b ? -1 : 1))
        )
        assert.deepStrictEqual(version.commits, commitsOf(tag))
        assert.sameMembers(
          version.tickets.map(({ identifier }) => identifier),
          [...new Set(commitsOf(tag).flatMap(({ tickets }) => tickets))]
        )
      }

      const named = [...new Set(versions.flatMap(({ commits }) => commits.flatMap(({ subject }) => namedIn(subject))))]
      assert.isAbove(named.length, 25)
      for (const identifier of named) {
        const trace = yield* as(viewer)(releases.trace(identifier))
        const tags = versions.filter(({ tag }) => commitsOf(tag).some(({ tickets }) => tickets.includes(identifier)))
        assert.deepStrictEqual(
          trace.commits.map(({ sha, version }) => [version, sha]),
          tags.flatMap(({ tag }) =>
            commitsOf(tag)
              .filter(({ tickets }) => tickets.includes(identifier))
              .map(({ sha }) => [tag, sha])
          )
        )
        const made = environments
          .flatMap(({ slug }, place) =>
            expected[place]!.map(({ at, version }, index) => ({ slug, at, version, number: index + 1 }))
          )
          .filter(({ version }) => tags.some(({ tag }) => tag === version))
          .toSorted((a, b) => (a.at < b.at ? -1 : 1))
        assert.deepStrictEqual(
          trace.releases.map(({ at, environment, number, version }) => ({
            slug: environment.slug,
            at,
            version,
            number
          })),
          made
        )
        const places = ["production", "qa", "staging"].map(
          (slug) => [slug, made.findLast((one) => one.slug === slug)] as const
        )
        const nameOf = (slug: string) => environments.find((environment) => environment.slug === slug)!.name
        const since = places.flatMap(([slug, last]) =>
          last === undefined ? [] : [`in ${nameOf(slug)} since ${last.at.slice(0, 10)}`]
        )
        const text = `${since.join(" and ")}${places[0]![1] === undefined ? `, not in ${nameOf("production")}` : ""}.`
        assert.strictEqual(trace.text, text[0]!.toUpperCase() + text.slice(1))
      }
    })
  )
})
