import { useRef } from "react"

/** Chooses files of the computer. */
export const AttachButton = ({
  className,
  label,
  onFiles
}: {
  readonly className: string
  /** What it attaches to, for screen readers. */
  readonly label: string
  readonly onFiles: (files: Iterable<File>) => void
}) => {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        hidden
        multiple
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          // The same file can be chosen again.
          target.value = ""
        }}
        ref={input}
        type="file"
      />
      <button aria-label={label} className={className} onClick={() => input.current?.click()} type="button">
        Attach
      </button>
    </>
  )
}
