import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type Toast, toast } from "../ui/toast.ts"
import { tellFailure } from "./failures.ts"

interface Options<V, A> {
  readonly act: (input: V) => Promise<A>
  /** What is said when it is done. */
  readonly done?: (answer: A, input: V) => Toast
  /** What is said when it could not be done; nothing where a form says it. */
  readonly failed?: (input: V) => string
  /** The starts of the keys of queries that it makes old. */
  readonly changes: ReadonlyArray<ReadonlyArray<unknown>>
  readonly onDone?: (answer: A) => void
}

/** Does one thing over the API, reads again what that has changed, and says what came of it. It keeps no answer. */
export const useAction = <V = void, A = unknown>({ act, changes, done, failed, onDone }: Options<V, A>) => {
  const queries = useQueryClient()
  const read = () => Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })))
  return useMutation({
    mutationFn: act,
    gcTime: 0,
    onSuccess: async (answer, input) => {
      await read()
      if (failed !== undefined) toast({ title: failed(input), isMended: true })
      if (done !== undefined) toast(done(answer, input))
      onDone?.(answer)
    },
    onError: (error, input) => {
      if (failed !== undefined) tellFailure(failed(input), error)
      return read()
    }
  })
}
