import type { Attachment } from "@delivery/domain/planning/Attachment"
import { useQueryClient } from "@tanstack/react-query"
import { type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from "react"
import { failureOf } from "../api/failures.ts"
import { attachmentsKey } from "./attachmentQueries.ts"
import { uploadAttachment } from "./uploadAttachment.ts"

export interface Upload {
  readonly key: number
  readonly name: string
  /** From 0 to 1. */
  readonly fraction: number
  /** Why it failed. */
  readonly problem: string | undefined
  /** Breaks it off, or takes a failed one out of sight. */
  readonly end: () => void
}

export interface TicketPlace {
  readonly slug: string
  readonly ticket: string
}

let lastKey = 0

/** The files that are being sent to a ticket, one after the other: so what refers to them stands in their order. */
export const useUploads = (to: TicketPlace | undefined, onDone: (attachment: Attachment) => void) => {
  const queries = useQueryClient()
  const [uploads, setUploads] = useState<ReadonlyArray<Upload>>([])
  const running = useRef(new Set<AbortController>())
  const queue = useRef(Promise.resolve())
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  })
  // Nobody sees any more what would come of them.
  useEffect(() => {
    const { current } = running
    return () => {
      for (const controller of current) controller.abort()
    }
  }, [])
  const begin = ({ slug, ticket }: TicketPlace, file: File) => {
    const key = ++lastKey
    const controller = new AbortController()
    const { signal } = controller
    const change = (changes: Partial<Upload>) =>
      setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...changes } : one)))
    const forget = () => setUploads((all) => all.filter((one) => one.key !== key))
    const end = () => {
      controller.abort()
      forget()
    }
    running.current.add(controller)
    setUploads((all) => [...all, { key, name: file.name, fraction: 0, problem: undefined, end }])
    const send = async () => {
      try {
        if (signal.aborted) return
        const onProgress = (fraction: number) => change({ fraction })
        const attachment = await uploadAttachment({ slug, ticket, file, signal, onProgress })
        await queries.invalidateQueries({ queryKey: attachmentsKey(slug, ticket) })
        forget()
        done.current(attachment)
      } catch (error) {
        if (!signal.aborted) change({ problem: failureOf(error).message })
      } finally {
        running.current.delete(controller)
      }
    }
    queue.current = queue.current.then(() => send())
  }
  const attach = (files: Iterable<File>) => {
    if (to !== undefined) for (const file of files) begin(to, file)
  }
  const hasFiles = ({ types }: DataTransfer) => to !== undefined && types.includes("Files")
  return {
    uploads,
    attach,
    onPaste: (event: ClipboardEvent) => {
      const { clipboardData: data } = event
      // Tables of spreadsheets come as text and as a picture of it: the text is meant.
      if (!hasFiles(data) || data.types.includes("text/plain")) return
      event.preventDefault()
      attach(data.files)
    },
    onDragOver: (event: DragEvent) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault()
    },
    onDrop: (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      attach(event.dataTransfer.files)
    }
  }
}
