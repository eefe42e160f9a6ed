import { Context, Effect, Layer, type Scope } from "effect"

/** Tasks of a scrape, such as counts in the database. Each server has its own. */
export const ScrapeTasks = Context.Reference<Set<Effect.Effect<void>>>("@delivery/server/telemetry/ScrapeTasks", {
  defaultValue: () => new Set()
})

export const layer = Layer.sync(ScrapeTasks, () => new Set<Effect.Effect<void>>())

/** Runs the task before each scrape is answered, until the scope closes. It should take at most a second. */
export const onScrape = (task: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.map(ScrapeTasks, (tasks) => {
        tasks.add(task)
        return tasks
      }),
      (tasks) => Effect.sync(() => tasks.delete(task))
    )
  )
