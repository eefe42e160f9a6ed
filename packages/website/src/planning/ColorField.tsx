import { useId } from "react"
import { palette } from "./tagColors.ts"

interface Props {
  readonly issue: string | undefined
  readonly onChange: (color: string) => void
  readonly value: string
}

/** One of the colours of tags, each with its name; one that another program has given stays among them. */
export const ColorField = ({ issue, onChange, value }: Props) => {
  const id = useId()
  const chosen = palette.find(({ color }) => color === value.toLowerCase())
  const all = chosen === undefined ? [...palette, { color: value, name: `Its own, ${value}` }] : palette
  return (
    <fieldset aria-describedby={issue === undefined ? undefined : `${id}issue`} className="flex min-w-0 flex-col gap-1">
      <legend className="pb-1 font-medium">Color</legend>
      <div className="flex flex-wrap items-center gap-1.5">
        {all.map(({ color, name }) => (
          <label className="relative inline-flex size-6" key={color} title={name}>
            <input
              aria-label={name}
              checked={color === (chosen?.color ?? value)}
              className="peer absolute inset-0 m-0 cursor-default appearance-none rounded-full"
              name={id}
              onChange={() => onChange(color)}
              type="radio"
              value={color}
            />
            <svg
              aria-hidden="true"
              className="pointer-events-none relative *:last:hidden peer-checked:*:last:block"
              height="24"
              viewBox="0 0 24 24"
              width="24"
            >
              <circle cx="12" cy="12" fill={color} r="10" />
              <path d="M7.5 12.5l3 3 6-7" fill="none" stroke="white" strokeLinecap="round" strokeWidth="2" />
            </svg>
          </label>
        ))}
        <span aria-hidden="true" className="text-muted pl-1">
          {chosen?.name ?? value}
        </span>
      </div>
      {issue !== undefined && (
        <p className="text-danger" id={`${id}issue`}>
          {issue}
        </p>
      )}
    </fieldset>
  )
}
