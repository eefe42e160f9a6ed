import type { TestRun } from "@delivery/client"
import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { Failure } from "./Failure.ts"
import { optionalText } from "./Flags.ts"
import { oneLine, print } from "./Output.ts"
import { runNumber } from "./RunNumber.ts"
import { connection } from "./Settings.ts"

/** The commands of `delivery runs` that need the Playwright of the working directory. */

/** Does the work of a program that has an exit code of its own. */
const withExitCode = (work: () => Promise<number>) =>
  Effect.tryPromise({
    try: async () => {
      process.exitCode = await work()
    },
    catch: (error) => (error instanceof Failure ? error : new Failure({ message: String(error) }))
  }).pipe(Effect.uninterruptible)

export const retry = Command.make(
  "retry",
  {
    number: runNumber,
    passes: Flag.Int("passes").pipe(
      Flag.filter(
        (passes) => passes >= 1 && passes <= 5,
        () => "A test is run 1 to 5 times."
      ),
      Flag.withDefault(3),
      Flag.withDescription("How often each failed test must pass to become flaky, 1 to 5. Default: 3")
    ),
    args: Argument.String("argument").pipe(
      Argument.variadic(),
      Argument.withDescription("Arguments for Playwright, after --")
    )
  },
  Effect.fnUntraced(function* ({ args, number, passes }) {
    const at = yield* connection
    const playwright = yield* Effect.promise(() => import("./InstalledPlaywright.ts"))
    const environment = { DELIVERY_URL: at.url, DELIVERY_API_KEY: at.apiKey, DELIVERY_WORKSPACE: at.workspace }
    yield* withExitCode(() => playwright.retry({ run: number, passes, args, environment }))
  })
).pipe(Command.withDescription("Run the failed tests of a run again with Playwright, and publish that as a retry"))

/** The traces of a run by the titles of their tests. */
const tracesOf = ({ tests }: TestRun) =>
  tests.flatMap(({ attempts, files, title }) =>
    [...new Set([...files, ...attempts.flatMap((attempt) => attempt.files)])]
      .filter((path) => /(^|\/)trace(-\d+)?\.zip$/.test(path))
      .map((path) => ({ title, path }))
  )

/** The one trace that is meant. */
const chosen = (run: TestRun, test: Option.Option<string>) => {
  const traces = tracesOf(run)
  const found = traces.filter(({ path, title }) =>
    Option.match(test, { onNone: () => true, onSome: (text) => `${title} ${path}`.includes(text) })
  )
  const [first, ...others] = found
  if (first === undefined) {
    const kept = traces.length === 0 ? "has no trace" : "has no trace of such a test"
    return Effect.fail(new Failure({ message: `Run ${run.number} ${kept}.` }))
  }
  if (others.length > 0) {
    const lines = found.map(({ path, title }) => `  ${oneLine(title)}  ${oneLine(path)}`)
    return Effect.fail(
      Failure.usage(`Run ${run.number} has several. Say which with --test and a part of a line:\n${lines.join("\n")}`)
    )
  }
  return Effect.succeed(first)
}

export const trace = Command.make(
  "trace",
  {
    number: runNumber,
    test: optionalText("test", "Part of the title of the test or of the path of the trace, if the run has several"),
    output: optionalText("output", "File to store the trace in, instead of showing it")
  },
  Effect.fnUntraced(function* ({ number, output, test }) {
    const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
    const { bytes, found } = yield* call(
      Effect.fnUntraced(function* (client, { workspace }) {
        const params = { slug: workspace, run: number }
        const found = yield* chosen(yield* client.testRuns.get({ params }), test)
        const response = yield* client.files.download({ ...params, path: found.path })
        return { bytes: new Uint8Array(yield* response.arrayBuffer), found }
      })
    )
    const store = (file: string) =>
      Effect.mapError(fs.writeFile(file, bytes), () => new Failure({ message: `${file} cannot be written.` }))
    if (Option.isSome(output)) {
      yield* store(output.value)
      return yield* print({ ...found, file: output.value }, output.value)
    }
    const { showTrace } = yield* Effect.promise(() => import("./InstalledPlaywright.ts"))
    const directory = yield* Effect.mapError(
      fs.makeTempDirectoryScoped({ prefix: "delivery-trace-" }),
      () => new Failure({ message: "There is no place for temporary files." })
    )
    const file = path.join(directory, "trace.zip")
    yield* store(file)
    yield* print({ ...found, file }, `Showing the trace of ${oneLine(found.title)}.`)
    yield* withExitCode(() => showTrace(file))
  }, Effect.scoped)
).pipe(Command.withDescription("Show the trace of a test of a run with Playwright, or store it"))
