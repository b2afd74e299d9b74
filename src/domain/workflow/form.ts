import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'
import { fieldFormatLabels, fieldFormats, fieldTypeLabels, fieldTypes } from './field-kinds.ts'

/** The parameters of a form trigger, and the fields of every form: those of form triggers and of approvals. */

/** How many choices a field may have. */
const optionsMax = 200

/** A field that people fill in. `options`: the choices; people choose one for a text or number, several for a list. */
export const FormField = t.Object({
  name: t.String({
    title: 'Name',
    description: 'Blocks read the field by this name.',
    minLength: 1,
    maxLength: 200,
  }),
  type: oneOf(fieldTypes, { title: 'Type', labels: fieldTypeLabels }),
  format: t.Optional(
    oneOf(fieldFormats, { title: 'Format', description: 'How a text must look.', labels: fieldFormatLabels }),
  ),
  label: t.Optional(t.String({ title: 'Label', maxLength: 500 })),
  description: t.Optional(t.String({ title: 'Description', maxLength: 2_000 })),
  options: t.Optional(
    t.Array(t.String({ maxLength: 500 }), {
      title: 'Choices',
      description: 'One on each line. People choose one for a text or number, and several for a list.',
      maxItems: optionsMax,
    }),
  ),
  required: t.Optional(t.Boolean({ title: 'Required' })),
})
export type FormField = Readonly<Static<typeof FormField>>

export const FormFields = t.Array(FormField, { title: 'Fields', description: 'What people fill in.', maxItems: 50 })

/** Who may send a form: everyone, callers with its password, or members of the workspace who may run workflows. */
export const formAccesses = ['public', 'password', 'members'] as const

export const FormParameters = t.Object({
  path: t.Optional(
    t.String({
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._~-]{0,199}$',
      expected: 'letters, digits, "-", "_", "." and "~", 200 at most and no "." or "~" in front',
      title: 'Path',
      description: 'The last part of the address. It is unique in the installation. Leave it empty for a random one.',
    }),
  ),
  title: t.String({ title: 'Title', minLength: 1, maxLength: 200 }),
  description: t.Optional(
    t.String({ title: 'Description', description: 'Shown above the fields, as text.', maxLength: 10_000 }),
  ),
  fields: t.Array(FormField, { ...FormFields, default: [] }),
  access: oneOf(formAccesses, {
    title: 'Access',
    description: 'Who may send the form.',
    default: 'public',
    labels: { public: 'Everyone', password: 'Password', members: 'Members who may run workflows' },
  }),
  password: t.Optional(
    t.String({
      maxLength: 1_000,
      secret: true,
      title: 'Password',
      description: 'We recommend an environment variable: {{FORM_PASSWORD}}.',
    }),
  ),
  respond: oneOf(['immediately', 'workflow', 'next'], {
    title: 'Respond',
    description:
      'The response to the sender: immediately, when the run is on disk; the response of the workflow; or the first ' +
      'approval page of the run.',
    default: 'immediately',
    labels: {
      immediately: 'Immediately',
      workflow: 'With the response of the workflow',
      next: 'With the first approval page of the run',
    },
  }),
  thanks: t.Optional(t.String({ title: 'Thanks', description: 'Shown after the form was sent.', maxLength: 10_000 })),
  redirect: t.Optional(
    t.String({
      title: 'Redirect',
      description: 'The page that opens after the form was sent: an http or https URL.',
      maxLength: 2_000,
    }),
  ),
  accent: t.Optional(
    t.String({
      pattern: '^#[0-9A-Fa-f]{6}$',
      expected: 'a colour such as #0a6e4f',
      title: 'Accent colour',
      description: 'The colour of the button, such as #0a6e4f.',
    }),
  ),
})
export type FormParameters = Static<typeof FormParameters>
