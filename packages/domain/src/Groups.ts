/** The values by their keys, both in the order in which they come. `Map.groupBy` needs Node 21; clients also run on Node 20. */
export const groupBy = <K, A>(values: Iterable<A>, keyOf: (value: A) => K): ReadonlyMap<K, ReadonlyArray<A>> => {
  const groups = new Map<K, Array<A>>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
