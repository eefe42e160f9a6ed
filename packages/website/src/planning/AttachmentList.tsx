import type { Attachment } from "@delivery/domain/planning/Attachment"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { isMadeBy } from "../api/madeBy.ts"
import { Sure } from "../api/Sure.tsx"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { buttonClass } from "../ui/Button.tsx"
import { formatBytes } from "../ui/formatBytes.ts"
import { Item } from "../ui/Item.tsx"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { AttachButton } from "./AttachButton.tsx"
import { attachmentsKey, attachmentsQuery } from "./attachmentQueries.ts"
import { attachmentUrl } from "./attachments.ts"
import { UploadList } from "./UploadList.tsx"
import { useUploads } from "./useUploads.ts"

/** All files on a ticket: how large, of whom and since when; to open, and to delete. */

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

const File = ({ attachment, mayChange, slug, ticket }: Props & { readonly attachment: Attachment }) => {
  const { createdAt, createdBy, id, name, size } = attachment
  const me = useMe()?.id
  const role = useRole(slug)
  const isMine = [attachment, ticket].some((made) => isMadeBy(me, made))
  const remove = useAction({
    act: () => client.attachments.delete({ params: { slug, ticket: ticket.identifier, attachment: id } }),
    changes: [attachmentsKey(slug, ticket.identifier)]
  })
  return (
    <Item
      actions={
        mayChange &&
        (isMine || mayAct(role, "admin")) && (
          <Sure doing={remove} subject={name} title="Delete the file?" verb="Delete">
            <p>
              <span className="foreign">{name}</span> cannot be brought back. Texts that show it have its name in its
              place.
            </p>
          </Sure>
        )
      }
      detail={
        <>
          {formatBytes(size)} · {actorName(createdBy)} · <Time at={createdAt} />
        </>
      }
      name={
        <a
          className="hover:underline"
          href={attachmentUrl(slug, ticket.identifier, id)}
          rel="noopener"
          target="_blank"
          title={name}
        >
          {name}
        </a>
      }
    />
  )
}

export const AttachmentList = (props: Props) => {
  const { mayChange, slug, ticket } = props
  const { data } = useQuery(attachmentsQuery(slug, ticket.identifier))
  const { attach, onDragOver, onDrop, uploads } = useUploads(
    mayChange ? { slug, ticket: ticket.identifier } : undefined,
    () => undefined
  )
  const files = data?.attachments ?? []
  if (files.length === 0 && !mayChange) return null
  return (
    <div onDragOver={onDragOver} onDrop={onDrop}>
      <Section
        actions={
          mayChange && (
            <AttachButton className={buttonClass("quiet")} label="Attach files to the ticket" onFiles={attach} />
          )
        }
        isFlush={files.length > 0}
        title="Files"
      >
        {files.length === 0 ? (
          <p className="text-muted">None. Drop files here, or paste a picture into a text.</p>
        ) : (
          <ul>
            {files.map((attachment) => (
              <File key={attachment.id} {...props} attachment={attachment} />
            ))}
          </ul>
        )}
      </Section>
      <UploadList uploads={uploads} />
    </div>
  )
}
