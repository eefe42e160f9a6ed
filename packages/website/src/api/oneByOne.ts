/** Calls about one thing come one after the other, in the order in which they were made. */

const last = new Map<string, Promise<unknown>>()

export const oneByOne = async <A>(thing: string, act: () => Promise<A>): Promise<A> => {
  const turn = (last.get(thing) ?? Promise.resolve()).then(act, act)
  last.set(thing, turn)
  try {
    return await turn
  } finally {
    if (last.get(thing) === turn) last.delete(thing)
  }
}
