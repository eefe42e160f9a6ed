import { Link } from "@tanstack/react-router"
import { mayAct, useRole } from "./session.ts"
import { buttonClass } from "../ui/Button.tsx"
import { creators, pressWhenThere } from "./creators.ts"

interface Props {
  readonly slug: string
  /** Of `creators`. */
  readonly label: string
  readonly look?: "primary" | "plain"
  readonly onClick?: () => void
}

/** Leads to the screen where something is made, and begins it there; nothing for whoever may not make it. */
export const Begin = ({ label, look = "plain", onClick, slug }: Props) => {
  const creator = creators.find((one) => one.label === label)
  const role = useRole(slug)
  if (creator === undefined || !mayAct(role, creator.least)) return null
  const path = `/w/${slug}/${creator.at}`
  return (
    <Link
      className={buttonClass(look)}
      onClick={() => {
        onClick?.()
        pressWhenThere(path, label)
      }}
      to={path}
    >
      {label}
    </Link>
  )
}
