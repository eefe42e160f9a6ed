declare module "parse-prometheus-text-format" {
  export interface Family {
    readonly name: string
    readonly help: string
    readonly type: string
    readonly metrics: ReadonlyArray<{ readonly labels?: Readonly<Record<string, string>>; readonly value: string }>
  }
  /** Throws where a line is not of the format. Merges histograms that differ in labels: hide their type from it. */
  export default function parse(text: string): ReadonlyArray<Family>
}
