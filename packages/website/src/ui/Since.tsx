import { Time } from "./Time.tsx"

/** When something last happened or ends, or that it never did. */
export const Since = ({
  at,
  never,
  word
}: {
  readonly at: string | null
  readonly word: string
  readonly never: string
}) =>
  at === null ? (
    never
  ) : (
    <>
      {word} <Time at={at} />
    </>
  )
