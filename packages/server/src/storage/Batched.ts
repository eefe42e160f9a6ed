import { Context, Effect, type Exit } from "effect"
import type { SqlClient } from "effect/sql"

/** Keys of one batch. */
const maxKeys = 100

/**
 * Combines the statements that requests send at the same time into one. As with a statement of its own, the answer to a
 * key is read or done after it was asked for: keys that come while batches are running wait for the next batch. A batch
 * continues when a request is interrupted. Within a transaction, a key is asked alone, in that transaction.
 *
 * @param ask Answers in the order of the keys, at most 100. A failure is that of all keys.
 * @param options.running Batches that run at once; more would only make them smaller.
 * @param options.groupOf Keys of different groups are never in one batch, and do not wait for each other.
 */
export const batched = <Key, A, E, R>(
  { transactionService }: Pick<SqlClient.SqlClient, "transactionService">,
  ask: (keys: ReadonlyArray<Key>) => Effect.Effect<ReadonlyArray<A>, E, R>,
  { groupOf = () => "", running }: { readonly running: number; readonly groupOf?: (key: Key) => string }
): ((key: Key) => Effect.Effect<A, E, R>) => {
  interface Waiting {
    readonly key: Key
    readonly context: Context.Context<R>
    readonly resume: (effect: Effect.Effect<A, E>) => void
  }
  interface Group {
    running: number
    readonly waiting: Set<Waiting>
  }
  const groups = new Map<string, Group>()

  /** Asks for the waiting keys with the context of the first, in a fiber that no request interrupts. */
  const next = (group: Group, name: string): void => {
    const batch = [...group.waiting].slice(0, maxKeys)
    const [first] = batch
    if (first === undefined) {
      if (group.running === 0) groups.delete(name)
      return
    }
    for (const one of batch) group.waiting.delete(one)
    group.running++
    Effect.suspend(() => ask(batch.map(({ key }) => key))).pipe(
      Effect.exit,
      Effect.map((answers) => {
        group.running--
        next(group, name)
        batch.forEach(({ resume }, index) => resume(answerAt(answers, index)))
      }),
      Effect.runForkWith(first.context)
    )
  }

  return (key) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Context.getOrUndefined(context, transactionService) !== undefined
        ? Effect.map(ask([key]), ([answer]) => answer!)
        : Effect.callback<A, E>((resume) => {
            const name = groupOf(key)
            const group = groups.get(name) ?? { running: 0, waiting: new Set<Waiting>() }
            groups.set(name, group)
            const one = { key, context, resume }
            group.waiting.add(one)
            if (group.running < running) next(group, name)
            return Effect.sync(() => group.waiting.delete(one))
          })
    )
}

const answerAt = <A, E>(answers: Exit.Exit<ReadonlyArray<A>, E>, index: number): Effect.Effect<A, E> =>
  answers._tag === "Success" ? Effect.succeed(answers.value[index]!) : Effect.failCause(answers.cause)

/**
 * For `batched`: asks for equal keys of a batch once, and gives all of them the same answer.
 *
 * @param nameOf Equal keys have equal names.
 */
export const askedOnce =
  <Key, A, E, R>(
    nameOf: (key: Key) => string,
    ask: (keys: ReadonlyArray<Key>) => Effect.Effect<ReadonlyArray<A>, E, R>
  ) =>
  (keys: ReadonlyArray<Key>): Effect.Effect<ReadonlyArray<A>, E, R> => {
    if (keys.length === 1) return ask(keys)
    const places = new Map<string, number>()
    const different: Array<Key> = []
    for (const key of keys) {
      const name = nameOf(key)
      if (places.has(name)) continue
      places.set(name, different.length)
      different.push(key)
    }
    return Effect.map(ask(different), (answers) => keys.map((key) => answers[places.get(nameOf(key))!]!))
  }
