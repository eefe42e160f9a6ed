import { useQuery } from "@tanstack/react-query"
import { type ComponentProps, use, useMemo } from "react"
import { FilesContext } from "../ui/files.ts"
import Markdown from "../ui/Markdown.tsx"
import { attachmentsQuery } from "./attachmentQueries.ts"
import { attachmentUrl, isPicture } from "./attachments.ts"
import { TicketContext } from "./queries.ts"
import type { TicketPlace } from "./useUploads.ts"

/** Markdown that shows the files of the ticket that it is a text of, if it is one of a ticket. Load it lazily. */

type Props = ComponentProps<typeof Markdown>

const WithFiles = ({ place: { slug, ticket }, ...props }: Props & { readonly place: TicketPlace }) => {
  const { data } = useQuery(attachmentsQuery(slug, ticket))
  const find = useMemo(() => {
    const files = data?.attachments
    return (id: string) => {
      const file = files?.find((one) => one.id === id)
      return file === undefined
        ? files && null
        : { name: file.name, url: attachmentUrl(slug, ticket, id), isPicture: isPicture(file) }
    }
  }, [data, slug, ticket])
  return (
    <FilesContext value={find}>
      <Markdown {...props} />
    </FilesContext>
  )
}

const TicketMarkdown = (props: Props) => {
  const place = use(TicketContext)
  return place === undefined ? <Markdown {...props} /> : <WithFiles {...props} place={place} />
}

export default TicketMarkdown
