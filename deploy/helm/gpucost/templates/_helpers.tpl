{{- define "gpucost.labels" -}}
app.kubernetes.io/name: gpucost
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gpucost.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end -}}
{{- end -}}
