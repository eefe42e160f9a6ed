import { ConfirmLink } from "./ConfirmLink.tsx"
import { useProof } from "./proof.ts"

/** Said before it is tried, so that nobody types first. */
export const ProofNote = () => (
  <p className="bg-warning-soft text-warning flex flex-wrap items-center gap-2 rounded-md px-3 py-2" role="status">
    <span className="flex-1 basis-60">
      Your last sign-in is too long ago for this: you will be asked to confirm that it is you.
    </span>
    <ConfirmLink />
  </p>
)

/** What stands in the way for want of a proof that is new: not asked for yet, refused, or given in another tab since. */
export const useUnproven = (isProofNeeded: boolean, isRefused: boolean, submittedAt: number) => {
  const proof = useProof(isProofNeeded || isRefused)
  const isGiven = proof?.isFresh === true && proof.readAt > submittedAt
  return {
    isToldBefore: isProofNeeded && !isRefused && proof?.isFresh === false,
    isRefused: isRefused && !isGiven,
    isGiven: isRefused && isGiven
  }
}
