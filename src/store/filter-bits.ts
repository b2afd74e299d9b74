/** A filter as bits, one for each member that it names; 0 when there is none. */
export function bitsOf<Member>(all: readonly Member[], filter: readonly Member[] | null): number {
  return (filter ?? []).reduce((bits, member) => bits | (1 << all.indexOf(member)), 0)
}

export function membersOf<Member>(all: readonly Member[], bits: number): Member[] | null {
  return bits === 0 ? null : all.filter((_, index) => (bits & (1 << index)) !== 0)
}
