/**
 * Some browsers name a language that `Intl` refuses, such as `en-US@posix` where a machine has none. Libraries that format by it would
 * not load: it is English then, as all that the website itself writes.
 */
export const mendLanguage = (): void => {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, "language", { configurable: true, value: "en" })
  }
}
