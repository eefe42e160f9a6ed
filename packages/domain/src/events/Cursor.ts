/** A place in the events of a workspace: every event up to a position, and some behind it, has been read. */
export interface EventCursor {
  readonly position: number
  /** The positions of events behind it that have been read already, ascending. */
  readonly seen: ReadonlyArray<number>
}

const pattern = /^(0|[1-9]\d{0,14})(\.[1-9]\d{0,14}){0,200}$/

export const isEventCursor = (text: string): boolean => pattern.test(text)

/** Of a text that is a cursor. */
export const readEventCursor = (text: string): EventCursor => {
  const [position = 0, ...seen] = text.split(".").map(Number)
  return { position, seen }
}

export const eventCursor = ({ position, seen }: EventCursor): string =>
  [position, ...seen.filter((one) => one > position)].join(".")
