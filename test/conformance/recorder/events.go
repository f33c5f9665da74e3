package recorder

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// An event is one of the prober's, in the vectors' words.
type event struct {
	Type      string `json:"type"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	FieldPath string `json:"fieldPath"`
}

// An eventLog keeps the events that the prober records.
type eventLog struct{ events []event }

// WithLogger makes eventLog a record.EventRecorderLogger.
func (l *eventLog) WithLogger(klog.Logger) record.EventRecorderLogger { return l }

// Event keeps one event.
func (l *eventLog) Event(object runtime.Object, eventType, reason, message string) {
	kept := event{Type: eventType, Reason: reason, Message: message}
	if reference, ok := object.(*v1.ObjectReference); ok {
		kept.FieldPath = reference.FieldPath
	}
	l.events = append(l.events, kept)
}

// Eventf keeps one event.
func (l *eventLog) Eventf(object runtime.Object, eventType, reason, format string, args ...any) {
	l.Event(object, eventType, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf keeps one event without its annotations.
func (l *eventLog) AnnotatedEventf(object runtime.Object, _ map[string]string, eventType, reason, format string, args ...any) {
	l.Eventf(object, eventType, reason, format, args...)
}
