import { Context, Effect, type Exit } from "effect"
import type { SqlClient } from "effect/sql"

/** Keys of one batch. */
const maxKeys = 100

/**
 * Makes one statement of those that requests send at the same time. What is answered to a key is read or done after it
 * was asked for, like by a statement of its own: what is asked while batches are on their way waits for the next. A
 * batch goes on whoever goes away. What is asked within a transaction is asked in it, alone.
 *
 * @param ask Answers in the order of the keys, at most 100. What fails fails for all of them.
 * @param options.running Batches that are on their way at once; more would only make them smaller.
 * @param options.groupOf Keys of several groups are never in one batch, and wait for none but their own.
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

  /** Asks for those that wait, in the name of the first, in a fiber that no request interrupts. */
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
