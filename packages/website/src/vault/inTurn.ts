/** How many requests are under way at once. */
const atOnce = 6

/** Does the work for each, a few at once, and answers in the order of the items. */
export const inTurn = async <A, B>(
  items: ReadonlyArray<A>,
  work: (item: A) => Promise<B>
): Promise<ReadonlyArray<B>> => {
  const done: Array<B> = Array.from({ length: items.length })
  const rest = items.entries()
  const worker = async () => {
    // One after the other is what a worker does.
    // oxlint-disable-next-line no-await-in-loop
    for (const [index, item] of rest) done[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return done
}
