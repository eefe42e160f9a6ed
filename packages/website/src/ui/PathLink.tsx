import { useRouter } from "@tanstack/react-router"
import type { MouseEvent, ReactNode } from "react"

interface Props {
  /** A path of this website that the API has given. */
  readonly path: string
  readonly title?: string
  readonly children: ReactNode
}

/** A link to a path that no route of ours made, without loading the page anew. */
export const PathLink = ({ children, path, title }: Props) => {
  const router = useRouter()
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    router.history.push(path)
  }
  return (
    <a className="foreign min-w-0 truncate hover:underline" href={path} onClick={open} title={title}>
      {children}
    </a>
  )
}
