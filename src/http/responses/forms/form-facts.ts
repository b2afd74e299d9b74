import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { fieldFormats } from '../../../domain/workflow/field-kinds.ts'
import { type FormField, type FormParameters, formAccesses } from '../../../domain/workflow/form.ts'
import { maybe } from '../schema-parts.ts'

/** A field of a form, for its page. */
export const FieldFacts = t.Object({
  name: t.String(),
  type: t.String(),
  format: maybe(oneOf(fieldFormats, { description: 'How a text must look.' })),
  label: maybe(t.String()),
  description: maybe(t.String()),
  options: t.Array(t.String()),
  required: t.Boolean(),
})
export type FieldFacts = Static<typeof FieldFacts>

/** The facts that the page of a form shows. */
export const FormFacts = t.Object(
  {
    access: oneOf(formAccesses),
    title: t.String(),
    description: maybe(t.String()),
    fields: t.Array(FieldFacts, { description: 'Empty for callers who may not send the form.' }),
    maySend: t.Boolean({ description: 'Whether this caller may send the form.' }),
    problem: maybe(t.String({ description: 'The reason if this caller may not send a form for members.' })),
    respond: oneOf(['immediately', 'workflow', 'next']),
    thanks: maybe(t.String()),
    redirect: maybe(t.String()),
    accent: maybe(t.String({ description: 'A colour such as #0a6e4f.' })),
  },
  { $id: 'Form' },
)
export type FormFacts = Static<typeof FormFacts>

export function formFacts(form: FormParameters, maySend: boolean, problem: string | null): FormFacts {
  const { access, title, description = null, fields, respond, thanks = null, redirect = null, accent = null } = form
  return {
    ...{ access, title, description: maySend ? description : null, fields: maySend ? fields.map(fieldFacts) : [] },
    ...{ maySend, problem, respond, thanks: thanks || null, redirect: redirect || null, accent: accent || null },
  }
}

export function fieldFacts(field: FormField): FieldFacts {
  const { name, type, format = null, label = null, description = null, options = [], required = false } = field
  return { name, type, format, label, description, options: [...options], required }
}
