interface Props {
  readonly typed: string
  readonly onTyped: (typed: string | undefined) => void
  readonly onEnd: () => void
}

const TicketTitleField = ({ onEnd, onTyped, typed }: Props) => (
  <input
    aria-label="Title"
    autoFocus
    className="border-border bg-surface -mx-2 w-full min-w-0 rounded-md border px-2 text-xl font-semibold"
    maxLength={200}
    onBlur={onEnd}
    onChange={(event) => onTyped(event.target.value)}
    onKeyDown={(event) => {
      if (event.nativeEvent.isComposing) return
      if (event.key !== "Enter" && event.key !== "Escape") return
      // Else the button that gets the keyboard would be pressed by the same key.
      event.preventDefault()
      if (event.key === "Enter") onEnd()
      else onTyped(undefined)
    }}
    value={typed}
  />
)

export default TicketTitleField
