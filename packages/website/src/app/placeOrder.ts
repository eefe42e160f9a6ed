import { type Place, placesOf } from "./places.ts"

/** The order of the sidebar: what a move makes of it. The order has the last place first, as it is kept. Pure. */

type Group = Place["group"]
type Step = -1 | 1

const byOrder = (order: ReadonlyArray<string>, places: ReadonlyArray<Place>): ReadonlyArray<Place> =>
  places.toSorted((one, other) => ~order.indexOf(one.to) - ~order.indexOf(other.to))

interface SidebarSection {
  readonly group: Group
  readonly places: ReadonlyArray<Place>
}

/** The sections of the sidebar with their places, from above. */
export const sectionsIn = (order: ReadonlyArray<string>, places: ReadonlyArray<Place>): ReadonlyArray<SidebarSection> =>
  [...Map.groupBy(byOrder(order, places), ({ group }) => group)].map(([group, some]) => ({ group, places: some }))

/** All places, as an order is kept. */
const kept = (sections: ReadonlyArray<SidebarSection>): ReadonlyArray<string> =>
  sections.flatMap(({ places }) => places.map(({ to }) => to)).toReversed()

/** A list where one stands beside the next of those that are shown, on its other side. */
const moved = <A>(all: ReadonlyArray<A>, shown: ReadonlyArray<A>, one: A, step: Step): ReadonlyArray<A> | undefined => {
  const next = shown[shown.indexOf(one) + step]
  if (next === undefined) return undefined
  const others = all.filter((each) => each !== one)
  return others.toSpliced(others.indexOf(next) + (step === 1 ? 1 : 0), 0, one)
}

/** The order after a place has moved among those of its section that are shown; undefined where it is at the end. */
export const movePlace = (
  order: ReadonlyArray<string>,
  shown: ReadonlyArray<Place>,
  place: Place,
  step: Step
): ReadonlyArray<string> | undefined => {
  const sections = sectionsIn(order, placesOf(undefined))
  const { places } = sections.find(({ group }) => group === place.group)!
  const next = moved(places, shown, place, step)
  return (
    next && kept(sections.map((section) => (section.group === place.group ? { ...section, places: next } : section)))
  )
}

/** The order after a section has moved. The first places, which have no heading, stay first. */
export const moveSection = (
  order: ReadonlyArray<string>,
  group: Group,
  step: Step
): ReadonlyArray<string> | undefined => {
  const [first, ...sections] = sectionsIn(order, placesOf(undefined))
  const one = sections.find((section) => section.group === group)!
  const next = moved(sections, sections, one, step)
  return next && kept([first!, ...next])
}
