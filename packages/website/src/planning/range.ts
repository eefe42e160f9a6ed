/** The ids from one to another, both of them, whichever comes first. Pure. */
export const rangeOf = (order: ReadonlyArray<string>, from: string, to: string): ReadonlyArray<string> => {
  const [one, other] = [order.indexOf(from), order.indexOf(to)]
  if (one < 0 || other < 0) return other < 0 ? [] : [to]
  return order.slice(Math.min(one, other), Math.max(one, other) + 1)
}
