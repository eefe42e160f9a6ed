import { countingRules } from "@delivery/domain/flow/EvidenceWords"

/** The rules behind evidence, for whoever asks for them: what is missing is said in other words. */
export const WhichRuns = () => (
  <details className="text-muted text-xs">
    <summary className="hover:text-text w-fit cursor-pointer">Which runs count?</summary>
    <p className="pt-1">Runs that</p>
    <ul className="list-disc pl-5">
      {countingRules.map((rule) => (
        <li key={rule}>{rule}</li>
      ))}
    </ul>
  </details>
)
