/** The form in which block names are compared: lower case, without spaces. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/\s+/g, '')
}
