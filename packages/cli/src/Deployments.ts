import type { Deployment, Readiness } from "@delivery/client"
import { verdictText, warnedText } from "@delivery/domain/catalog/KeptBack"
import { defaultPolicy, type ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import { mutedIn, notCountedTexts, pendingTexts, testedText } from "@delivery/domain/flow/ReadinessRuns"
import { type Release, releasesPageSize } from "@delivery/domain/releases/Release"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { Failure } from "./Failure.ts"
import { given, optionalText, textOr } from "./Flags.ts"
import { colour, note, oneLine, print, table } from "./Output.ts"
import { connectionFlags } from "./Settings.ts"

/** `delivery deployments`. */

const rowOf = ({ active, baseUrl, environment, product, version, versionUpdatedAt }: Deployment) => [
  product.slug,
  environment.slug,
  version ?? "unknown",
  versionUpdatedAt,
  baseUrl ?? "",
  active ? "" : "archived"
]

const list = Command.make(
  "list",
  {
    product: optionalText("product", "Only deployments of this product"),
    environment: optionalText("environment", "Only deployments in this environment"),
    archived: Flag.Boolean("archived").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Also deployments of archived products and environments")
    )
  },
  Effect.fnUntraced(function* ({ archived, environment, product }) {
    const found = yield* call((client, { workspace }) =>
      client.deployments.list({
        params: { slug: workspace },
        query: { ...given({ environment, product }), ...(archived ? { archived: "include" as const } : {}) }
      })
    )
    const header = ["Product", "Environment", "Version", "Since", "Address", ""]
    yield* print(
      found,
      found.deployments.length === 0 ? "No deployments." : table(header, found.deployments.map(rowOf))
    )
  })
).pipe(Command.withDescription("List what runs where, and in which version"))

const setVersion = Command.make(
  "set-version",
  {
    version: Argument.String("version").pipe(
      Argument.optional,
      Argument.withDescription(
        "What runs now: a commit or tag, or any other name. Default: the commit that is checked out"
      )
    ),
    versionFlag: optionalText("version", "The same, as a flag"),
    product: textOr("product", "DELIVERY_PRODUCT", "The product of the deployment"),
    environment: textOr("environment", "DELIVERY_ENVIRONMENT", "The environment of the deployment"),
    commits: Flag.Boolean("commits").pipe(
      Flag.withDefault(true),
      Flag.withDescription("Send the commits since the last version. Default: true; --no-commits sends none")
    ),
    force: Flag.Boolean("force").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Change the version although locked runs are under way")
    ),
    override: optionalText(
      "override",
      "Why the version goes out although the policy keeps it back: the release tells it"
    ),
    wait: Flag.Int("wait").pipe(
      Flag.filter(
        (seconds) => seconds >= 0 && seconds <= 30,
        () => "A wait is 0 to 30 seconds."
      ),
      Flag.withDefault(0),
      Flag.withDescription("How many seconds to wait for locked runs to end, at most 30")
    )
  },
  Effect.fnUntraced(function* ({ commits, environment, force, override, product, version, versionFlag, wait }) {
    if (Option.isSome(version) && Option.isSome(versionFlag)) {
      return yield* Failure.usage("Say the version once: as an argument, or with --version.")
    }
    const { commitOf, commitsSince, hasChanges, wholeCommit } = yield* Effect.promise(() => import("./Commits.ts"))
    const named = Option.getOrUndefined(Option.orElse(version, () => versionFlag))
    const next = yield* Effect.promise(() => (named === undefined ? commitOf("HEAD") : wholeCommit(named)))
    if (next === undefined) return yield* Failure.usage("There is no commit here: say which version runs.")
    const { changed, found, kept, previous } = yield* call(
      Effect.fnUntraced(function* (client, { workspace }) {
        const params = { slug: workspace, product, environment }
        const { version: previous } = yield* client.deployments.get({ params })
        const found =
          commits && previous !== next
            ? yield* Effect.promise(() => commitsSince(previous, next))
            : { commits: undefined, note: undefined }
        const isAsked = Option.isNone(override) && previous !== next
        const kept = isAsked
          ? yield* Effect.option(client.readiness.get({ params, query: { version: next } }))
          : Option.none()
        const changed = yield* client.deployments.update({
          params,
          payload: {
            version: next,
            force,
            waitMs: wait * 1_000,
            ...given({ override }),
            ...(found.commits === undefined ? {} : { commits: found.commits })
          }
        })
        return { changed, found, kept, previous }
      }),
      { waitSeconds: wait }
    )
    if (named === undefined && (yield* Effect.promise(hasChanges))) {
      yield* note(`There are uncommitted changes here: the commit ${next} is recorded, which is without them.`)
    }
    if (found.note !== undefined) yield* note(oneLine(found.note))
    const against = Option.getOrUndefined(kept)?.reasons.filter(({ severity }) => severity === "block") ?? []
    if (against.length > 0) yield* note(againstPolicy(against))
    const sent = found.commits?.length ?? 0
    yield* print(
      { deployment: changed, previous, commits: found.commits ?? null },
      `${oneLine(changed.product.name)} in ${oneLine(changed.environment.name)}: ${oneLine(previous ?? "unknown")} → ${oneLine(changed.version ?? "unknown")}${sent === 0 ? "" : `, ${sent} ${sent === 1 ? "commit" : "commits"}`}.`
    )
  })
).pipe(Command.withDescription("Record which version runs, with the commits that it adds"))

const history = Command.make(
  "history",
  {
    product: Argument.String("product").pipe(Argument.withDescription("The product of the deployment")),
    environment: Argument.String("environment").pipe(Argument.withDescription("The environment of the deployment")),
    before: Flag.Int("before").pipe(
      Flag.optional,
      Flag.withDescription("Only releases numbered below it: the rest of a longer list")
    ),
    deployment: optionalText(
      "deployment",
      "The id of the deployment that the number of --before is of, as the list before says it"
    ),
    notReady: Flag.Boolean("not-ready").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Only releases that the policy kept back when they were recorded")
    )
  },
  Effect.fnUntraced(function* ({ before, deployment, environment, notReady, product }) {
    const { hasPolicy, page } = yield* call(
      Effect.fnUntraced(function* (client, { workspace }) {
        const params = { slug: workspace, product, environment }
        const page = yield* client.releases.history({ params, query: given({ before, deployment }) })
        // A policy that asks for what is asked for without one is known by what it has judged: the newest releases tell.
        const isKnown = !notReady || Option.isSome(before) || page.releases.some(({ readiness }) => readiness !== null)
        // The policy of a deployment that was deleted is not shown, and there may be one.
        const policy = Effect.catchTag(client.readiness.policy({ params }), "NotFound", () => Effect.succeed(undefined))
        const hasPolicy = isKnown || !isDefault(yield* policy)
        return { hasPolicy, page }
      })
    )
    const releases = notReady ? page.releases.filter(({ readiness }) => readiness?.ready === false) : page.releases
    const notJudged = page.releases.filter(({ readiness, version }) => readiness === null && version !== null)
    const last = page.releases.length === releasesPageSize ? page.releases.at(-1) : undefined
    const isMore = last !== undefined
    const shown =
      releases.length === 0
        ? `No ${notReady ? "release that was not ready" : "release"}${isMore ? ` among the newest ${releasesPageSize}` : ""}.`
        : table(["Release", "Version", "At", "By", "Readiness", ""], releases.map(releaseOf))
    const unknown = notReady ? notJudgedTexts(notJudged, hasPolicy) : []
    yield* print(
      {
        releases,
        notJudged: notJudged.map(({ number }) => number),
        before: last?.number ?? null,
        deployment: last?.deployment.id ?? null
      },
      [shown, ...unknown].join("\n")
    )
    if (isMore) yield* note(`There may be more: --before ${last.number} --deployment ${last.deployment.id}`)
  })
).pipe(Command.withDescription("List the releases of a deployment, and whether they went out against its policy"))

const isDefault = (policy: ReadinessPolicy | undefined): boolean =>
  JSON.stringify(policy) === JSON.stringify(defaultPolicy)

/** How many releases a text names. */
const mostNamed = 10

/** What `--not-ready` cannot know: of a release that was not judged nobody can say that it was ready. */
const notJudgedTexts = (notJudged: ReadonlyArray<Release>, hasPolicy: boolean): ReadonlyArray<string> => {
  const more = notJudged.length - mostNamed
  const numbers = notJudged.slice(0, mostNamed).map(({ number }) => number)
  return [
    ...(hasPolicy ? [] : ["The deployment has no readiness policy: what goes out there is not judged."]),
    ...(notJudged.length === 0
      ? []
      : [
          `${notJudged.length} ${notJudged.length === 1 ? "release was" : "releases were"} not judged: ${numbers.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`
        ])
  ]
}

const releaseOf = ({ at, by, deployment, number, override, readiness, version }: Release) => [
  String(number),
  version ?? "cleared",
  at,
  by.kind === "removed" ? "somebody who was removed" : by.name,
  readinessOf(readiness),
  [
    ...(override === null ? [] : [`Override: ${override}`]),
    ...(deployment.deletedAt === null ? [] : [`Its deployment was deleted at ${deployment.deletedAt}`])
  ].join("; ")
]

const readinessOf = (readiness: Release["readiness"]): string =>
  readiness === null
    ? ""
    : [verdictText(readiness), warnedText(readiness)].filter((text) => text !== undefined).join("; ")

/** That the policy keeps back what was recorded. */
const againstPolicy = ([first, ...others]: Readiness["reasons"]): string =>
  `The policy keeps this version back: ${oneLine(first!.message)}${others.length === 0 ? "" : ` And ${others.length} more.`} ` +
  "It is recorded all the same, without a reason: a release takes that with the version, from --override REASON."

const ready = Command.make(
  "ready",
  {
    product: Argument.String("product").pipe(Argument.withDescription("The product of the deployment")),
    environment: Argument.String("environment").pipe(
      Argument.withDescription("The environment that the version is to go out to")
    ),
    version: optionalText(
      "version",
      "The version that is to go out. Default: the one that runs where the policy says versions come from, else the one that runs"
    ),
    known: Flag.Boolean("known").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Exit with 1 also if nobody has released or tested the version, as where it is mistyped")
    )
  },
  Effect.fnUntraced(function* ({ environment, known, product, version }) {
    const asked = yield* Effect.promise(async () =>
      Option.isNone(version) ? {} : { version: await (await import("./Commits.ts")).wholeCommit(version.value) }
    )
    const found = yield* call((client, { workspace }) =>
      client.readiness.get({ params: { slug: workspace, product, environment }, query: asked })
    )
    yield* print(found, readinessText(found, `${product} in ${environment}`))
    if (isWithout(found))
      return yield* new Failure({ message: "No version is known to go out: say which, with --version." })
    if (!found.ready) return yield* new Failure({ message: "It may not go out." })
    if (known && (found.version === null || isUnknown(found))) {
      return yield* new Failure({ message: "Nobody has released or tested the version." })
    }
  })
).pipe(Command.withDescription("Say whether a version may go out, with the reasons; exit with 1 if it may not"))

const isUnknown = ({ reasons }: Readiness): boolean => reasons.some(({ kind }) => kind === "version_unknown")

/** Whether none was named, and none runs where versions come from. */
const isWithout = ({ reasons }: Readiness): boolean => reasons.some(({ kind }) => kind === "version_missing")

/** How many tests passed, and what became of the others. */
const countsText = ({ failed, flaky, passed, skipped }: Readiness["runs"][number]["counts"]): string =>
  [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(flaky === 0 ? [] : [`${flaky} flaky`]),
    `${passed} passed`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`])
  ].join(", ")

/** The run with its counts, which commit its tests are of where that is not the version, what of it is muted, and what may still change it. */
const decidedText = (decided: Readiness["runs"][number], version: string | null): ReadonlyArray<string> => {
  const { counts, coverage, environment, gateResult, git, mutedFailures, result, run } = decided
  const commit = testedText(decided, version)
  const more = mutedFailures.count - mutedFailures.tests.length
  return [
    `Run ${run} in ${environment}, ${coverage}: ${result}${gateResult === result ? "" : `, ${gateResult} without its muted tests`} (${countsText(counts)})${commit === undefined ? "" : `, ${commit}`}${git.dirty ? ", with uncommitted changes" : ""}`,
    ...mutedFailures.tests.map(
      ({ ticket, title }) => `Run ${run}: “${title}” failed, and was muted${ticket === null ? "" : ` by ${ticket}`}.`
    ),
    ...(more > 0 ? [`Run ${run}: ${more} more failed, and were muted.`] : []),
    ...pendingTexts(decided)
  ]
}

/** "ready" alone is said where a test says so. */
const verdictOf = (readiness: Readiness): string => {
  if (isWithout(readiness)) return colour("red", "not ready, no next version is known")
  if (!readiness.ready) return colour("red", "not ready")
  const muted = mutedIn(readiness.runs)
  const but = [
    ...(isUnknown(readiness) ? ["nobody has released or tested it"] : []),
    ...(muted === 0 ? [] : [`${muted} failed ${muted === 1 ? "test is" : "tests are"} muted`]),
    ...(readiness.requires.length === 0 ? ["no run is required"] : [])
  ]
  return but.length === 0 ? colour("green", "ready") : colour("yellow", `ready, but ${but.join(", and ")}`)
}

/** What it is about, the runs that decided, and the reasons. */
const readinessText = (readiness: Readiness, target: string): string => {
  const { reasons, runs, version } = readiness
  const verdict = `${version ?? "An unknown version"} for ${target}: ${verdictOf(readiness)}`
  const decided = runs.flatMap((run) => decidedText(run, version))
  const told = reasons.map(({ kind, message, severity }) => [severity, kind, message])
  return [
    ...[verdict, ...decided, ...notCountedTexts(readiness)].map(oneLine),
    ...(told.length === 0 ? [] : [table(["Severity", "Reason", ""], told)])
  ].join("\n")
}

export const deployments = Command.make("deployments").pipe(
  Command.withDescription("Deployments: list, history, set-version, ready"),
  Command.withSubcommands([list, history, setVersion, ready]),
  Command.withGlobalFlags(connectionFlags)
)
