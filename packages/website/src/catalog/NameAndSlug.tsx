import { useState } from "react"
import { issueAt } from "../api/failures.ts"
import { Input } from "../ui/Field.tsx"
import { slugOf } from "./slug.ts"

/** A name and the slug that goes with it, which follows the name until it is changed itself. */
export const useNameAndSlug = (existing?: { readonly name: string; readonly slug: string }) => {
  const [name, setName] = useState(existing?.name ?? "")
  const [ownSlug, setSlug] = useState(existing?.slug)
  return { name, setName, slug: ownSlug ?? slugOf(name), setSlug }
}

interface Props {
  readonly error: unknown
  readonly value: ReturnType<typeof useNameAndSlug>
  readonly placeholder: string
}

export const NameAndSlug = ({ error, placeholder, value: { name, setName, setSlug, slug } }: Props) => (
  <>
    <Input
      autoComplete="off"
      autoFocus
      issue={issueAt(error, "name")}
      label="Name"
      maxLength={100}
      onChange={(event) => setName(event.target.value)}
      placeholder={placeholder}
      value={name}
    />
    <Input
      autoComplete="off"
      hint="In addresses, commands and the API"
      isMono
      issue={issueAt(error, "slug")}
      label="Slug"
      maxLength={60}
      onChange={(event) => setSlug(event.target.value)}
      spellCheck={false}
      value={slug}
    />
  </>
)
