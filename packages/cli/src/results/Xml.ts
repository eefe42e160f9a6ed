import { SaxesParser } from "saxes"

/** An element of XML. Text and elements that nobody asked for are not kept. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<XmlElement>
  readonly text: string
}

interface Open {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Array<Open>
  text: string
}

/** Why a file is refused, in a sentence that names its place where it has one. */
export class Refused extends Error {}

const deepest = 100

/** The element as its author wrote it, without the prefix of a namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

/**
 * Reads XML strictly. A document type is refused: it is what defines entities, which may name files or grow without end.
 *
 * @param kept The elements to keep, by name; what is inside of others is skipped.
 * @param withText Those of them whose text is kept.
 */
export const readXml = (text: string, kept: ReadonlySet<string>, withText: ReadonlySet<string>): XmlElement => {
  const parser = new SaxesParser({ xmlns: false })
  const open: Array<Open> = []
  let root: Open | undefined
  let depth = 0
  /** How deep inside of an element that is not kept. */
  let skipped = 0

  parser.on("error", (error) => {
    throw new Refused(`it is not well-formed XML: ${error.message}`)
  })
  parser.on("doctype", () => {
    throw new Refused("it has a document type, which can define entities, and results have none.")
  })
  parser.on("opentag", ({ attributes, name }) => {
    if (++depth > deepest) throw new Refused(`its elements are more than ${deepest} deep.`)
    const local = localName(name)
    if (skipped > 0 || (root !== undefined && !kept.has(local))) {
      skipped++
      return
    }
    const element = { name: local, attributes, children: [], text: "" }
    if (root === undefined) root = element
    else open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on("closetag", () => {
    depth--
    if (skipped > 0) skipped--
    else open.pop()
  })
  const addText = (part: string) => {
    const element = open.at(-1)
    if (skipped === 0 && element !== undefined && withText.has(element.name)) element.text += part
  }
  parser.on("text", addText)
  parser.on("cdata", addText)

  parser.write(text).close()
  if (root === undefined) throw new Refused("it has no element.")
  return root
}
