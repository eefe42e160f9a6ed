/** In lower case, wherever a letter stands: a sigma at the end of a word has a lower case of its own. */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll("ς", "σ")
